"""Reference of TestSevenStickSlipAgainstReference: the hybrid seven-parameter model drawn over a spring, public set of
theory 8, event by event, with the lagged velocity from the dense output. Prints events, then t and x every half second."""
import numpy as np
from scipy.integrate import solve_ivp
Fc,Fv,Fi,kt,vs,tl,ga,ct=1,.4,.5,1e3,.05,.02,.1,30
M,k,V=1,100,.02
segs=[]
def hist(t):
    if t<=0: return 0.
    for a,b,s in reversed(segs):
        if a<=t: return s(t)[1]
    return 0.
t,x,v=0.,0.,0.
mode,xi0,x0,t0,fsa=0,0.,0.,0.,Fi
fsb=0
T=10
def Fs(t2): return fsa+(Fi-fsa)*t2/(t2+ga)
ev=[]
while t<T:
    if mode==0:
        def F(t,x,v):
            top=Fc+Fs(t-t0); return min(max(kt*(xi0+x-x0)+ct*v,-top),top)
        f=lambda t,y:[y[1],(k*(V*t-y[0])-F(t,y[0],y[1]))/M]
        e=lambda t,y: Fc+Fs(t-t0)-kt*abs(xi0+y[0]-x0)
        e.direction=-1
    else:
        d,fb=mode,fsb
        f=lambda t,y:[y[1],(k*(V*t-y[0])-d*(Fc+fb/(1+(hist(t-tl)/vs)**2))-Fv*y[1])/M]
        e=lambda t,y: d*y[1]
        e.direction=-1
    e.terminal=True
    end=min(T,t+ (tl*0.9 if mode else .05))
    s=solve_ivp(f,(t,end),[x,v],method='DOP853',rtol=1e-11,atol=1e-14,events=e,dense_output=True,max_step=1e-3)
    segs.append((t,s.t[-1],s.sol)); t=s.t[-1]; x,v=s.y[:,-1]
    if s.status==1:
        if mode==0:
            mode=int(np.sign(xi0+x-x0)); fsb=Fs(t-t0); v=mode*max(mode*v,1e-14)
        else:
            fsa=fsb/(1+(hist(t-tl)/vs)**2); xi0=mode*(Fc+fsa)/kt; x0=x; t0=t; v=0; mode=0
        ev.append((t,mode))
print(ev[:8],len(ev))
for tt in np.arange(0.5,10.01,0.5):
    tt=min(tt,T)
    for a,b,s in reversed(segs):
        if a<=tt: print("%.1f %.9f"%(tt,s(tt)[0])); break
