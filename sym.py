import subprocess,sys,re,bisect
out,binp,lim=sys.argv[1],sys.argv[2],int(sys.argv[3])
nm=subprocess.run(['nm','-n',binp],capture_output=True,text=True).stdout
syms=[]
for l in nm.splitlines():
    p=l.split(None,2)
    if len(p)==3 and p[1] in 'tTwWvViI': syms.append((int(p[0],16),p[2]))
addrs=[a for a,_ in syms]
rows=[]
for l in open(out):
    m=re.match(r'\s*([\d,]+) \(\s*[\d.]+%\)\s+\S*:0x([0-9a-f]+)',l)
    if m: rows.append((int(m[1].replace(',','')),int(m[2],16)))
names=[]
for c,a in rows[:lim]:
    i=bisect.bisect(addrs,a)-1
    names.append((c,syms[i][1],a-syms[i][0]))
d=subprocess.run(['swift-demangle','--simplified'],input='\n'.join(n for _,n,_ in names),capture_output=True,text=True).stdout.splitlines()
for (c,n,o),dd in zip(names,d): print(f'{c:9d} {dd[:150]} +{o}')
