import numpy as np, scipy.sparse as sp
from scipy.sparse.linalg import splu
class Factor:
    def __init__(s,lu,entries,n,m): s.lu,s.entries,s.n,s.m=lu,entries,n,m
    def solve(s,r):
        if s.m==1: return np.ascontiguousarray(s.lu.solve(np.ascontiguousarray(r)))
        return s.lu.solve(r.ravel()).reshape(r.shape)
class Plan:
    def __init__(s,count,a,b,points): s.n,s.a,s.b=count,a,b
    def factorise(s,diag,edge):
        n,m=s.n,diag.shape[1]; ok=s.a!=s.b; a,b,e=s.a[ok],s.b[ok],edge[ok]
        I=np.concatenate([np.arange(n),a,b]);J=np.concatenate([np.arange(n),b,a]);V=np.concatenate([diag,e,e.transpose(0,2,1)])
        k=np.arange(m)
        A=sp.csc_matrix((V.ravel(),((I[:,None,None]*m+k[:,None]+0*k).ravel(),(J[:,None,None]*m+k+0*k[:,None]).ravel())),shape=(n*m,n*m))
        lu=splu(A,permc_spec='MMD_AT_PLUS_A',diag_pivot_thresh=0.0,options=dict(SymmetricMode=True))
        if not (lu.U.diagonal()>0).all(): return None
        return Factor(lu,lu.nnz,n,m)
