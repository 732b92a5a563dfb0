def scene_picture(*a, **k): raise NotImplementedError
