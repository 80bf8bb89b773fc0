# Layers with the numbers that PyTorch 2 gives for them in float64:
#   python torch_layers.py > ../support/layers_values.h
import math

import torch
from torch import nn
torch.set_default_dtype(torch.float64)
def sample(sizes, shift):
    n=math.prod(sizes)
    return torch.tensor([math.sin(1.7*i+0.6+shift) for i in range(n)]).reshape(sizes)
rows=[]
def cpp(a):
    if isinstance(a,bool): return 'true' if a else 'false'
    if isinstance(a,tuple): return '{'+', '.join(cpp(x) for x in a)+'}'
    if isinstance(a,str): return '"'+a+'"'
    if a is None: return '{}'
    if a==float('inf'): return 'INFINITY'
    if a==-float('inf'): return '-INFINITY'
    return repr(a)
# What these layers require by position, and the names of what follows.
OPTIONS={
    'AvgPool1d': (1,['stride', 'padding', 'ceil_mode', 'count_include_pad']),
    'AvgPool2d': (1,['stride', 'padding', 'ceil_mode', 'count_include_pad', 'divisor_override']),
    'AvgPool3d': (1,['stride', 'padding', 'ceil_mode', 'count_include_pad', 'divisor_override']),
    'BatchNorm1d': (1,['eps', 'momentum', 'affine', 'track_running_stats']),
    'BatchNorm2d': (1,['eps', 'momentum', 'affine', 'track_running_stats']),
    'BatchNorm3d': (1,['eps', 'momentum', 'affine', 'track_running_stats']),
    'Conv1d': (3,['stride', 'padding', 'dilation', 'groups', 'bias', 'padding_mode']),
    'Conv2d': (3,['stride', 'padding', 'dilation', 'groups', 'bias', 'padding_mode']),
    'Conv3d': (3,['stride', 'padding', 'dilation', 'groups', 'bias', 'padding_mode']),
    'ConvTranspose1d': (3,['stride', 'padding', 'output_padding', 'groups', 'bias', 'dilation']),
    'ConvTranspose2d': (3,['stride', 'padding', 'output_padding', 'groups', 'bias', 'dilation']),
    'ConvTranspose3d': (3,['stride', 'padding', 'output_padding', 'groups', 'bias', 'dilation']),
    'Flatten': (0,['start_dim', 'end_dim']),
    'Fold': (2,['dilation', 'padding', 'stride']),
    'GroupNorm': (2,['eps', 'affine']),
    'Hardtanh': (0,['min_val', 'max_val']),
    'InstanceNorm1d': (1,['eps', 'momentum', 'affine', 'track_running_stats']),
    'InstanceNorm2d': (1,['eps', 'momentum', 'affine', 'track_running_stats']),
    'InstanceNorm3d': (1,['eps', 'momentum', 'affine', 'track_running_stats']),
    'LPPool1d': (2,['stride', 'ceil_mode']),
    'LPPool2d': (2,['stride', 'ceil_mode']),
    'LPPool3d': (2,['stride', 'ceil_mode']),
    'LayerNorm': (1,['eps', 'elementwise_affine', 'bias']),
    'MaxPool1d': (1,['stride', 'padding', 'dilation', 'ceil_mode']),
    'MaxPool2d': (1,['stride', 'padding', 'dilation', 'ceil_mode']),
    'MaxPool3d': (1,['stride', 'padding', 'dilation', 'ceil_mode']),
    'PReLU': (0,['num_parameters', 'init']),
    'RMSNorm': (1,['eps', 'elementwise_affine']),
    'RReLU': (0,['lower', 'upper']),
    'Softplus': (0,['beta', 'threshold']),
    'Unfold': (1,['dilation', 'padding', 'stride']),
    'Upsample': (0,['size', 'scale_factor', 'mode', 'align_corners']),
}
def spelled(name, args):
    required,names=OPTIONS.get(name,(len(args),[]))
    # What is (): the default of a list that is left out.
    named=[f'.{n} = {cpp(a)}' for n,a in zip(names,args[required:]) if a!=()]
    return ', '.join([cpp(a) for a in args[:required]]+(['{'+', '.join(named)+'}'] if named else []))
def add(name, args, *inputs, targs=None, random=False, kw=None):
    m=getattr(nn,name)(*(targs if targs is not None else args), **(kw or {}))
    ps=list(m.parameters())
    with torch.no_grad():
        for k,p in enumerate(ps): p.copy_(sample(tuple(p.shape), k+1.0))
    xs=[sample(s,i*1.0) for i,s in enumerate(inputs)]
    vals=[]
    for mode in (True,False):
        m.train(mode)
        y=m(*xs)
        vals.append((y*sample(tuple(y.shape),0.3)).sum().item())
    tr='NAN' if random else repr(float('%.13g'%vals[0]))
    ins='{'+', '.join('{'+', '.join(map(str,s))+'}' for s in inputs)+'}'
    out='{'+', '.join(map(str,y.shape))+'}'
    rows.append(f'    {{"{name}", [] {{ return tn::nn::{name}({spelled(name,args)}); }}, {ins}, {out}, {tr}, {float("%.13g"%vals[1])!r}, "{",".join(m.state_dict())}"}},')
S=(2,3,4)
for n in 'Identity ReLU ReLU6 SELU SiLU Mish Sigmoid LogSigmoid Tanh Tanhshrink Softsign Hardsigmoid Hardswish'.split(): add(n,(),S)
add('LeakyReLU',(0.2,),S); add('ELU',(0.7,),S); add('CELU',(0.7,),S); add('Softshrink',(0.3,),S); add('Hardshrink',(0.3,),S)
add('Softplus',(2.0,0.5),S); add('Threshold',(0.1,0.7),S); add('Hardtanh',(-0.3,0.6),S); add('RReLU',(0.1,0.3),S,random=True)
add('GELU',(),S); add('GELU',('tanh',),S); add('PReLU',(),S); add('PReLU',(3,),S); add('GLU',(),S); add('GLU',(0,),S)
for n in ('Softmax','LogSoftmax','Softmin'):
    add(n,(),(2,3)); add(n,(),S); add(n,(-1,),S)
add('Softmax2d',(),(2,3,2,2)); add('Softmax2d',(),(3,2,2))
add('Linear',(4,2),S); add('Linear',(4,2,False),S); add('Bilinear',(3,2,4),(5,3),(5,2)); add('Bilinear',(3,2,4,False),(2,2,3),(2,2,2)); add('Bilinear',(3,2,4),(3,),(2,))
add('Conv1d',(4,6,3,2,1,2,2),(2,4,9)); add('Conv1d',(2,3,3,1,2,1,1,True,'circular'),(2,2,5)); add('Conv2d',(2,3,(3,2),1,(2,1),1,1,True,'reflect'),(2,2,4,5)); add('Conv3d',(1,2,2,1,(0,1,2),1,1,False,'replicate'),(1,1,3,3,3))
add('ConvTranspose1d',(4,6,3,2,1,1,2),(2,4,5)); add('ConvTranspose2d',(2,3,(3,2),(2,3),(1,0),(1,2),1,False),(2,2,3,4)); add('ConvTranspose2d',(4,4,2,1,0,0,2,True,2),(4,3,3)); add('ConvTranspose3d',(2,2,2,(1,2,1),0,(0,1,0)),(1,2,2,3,2))
add('MaxPool1d',(3,2,1,1,True),(2,3,7),targs=(3,2,1,1,False,True)); add('MaxPool2d',(2,),(2,3,5,6)); add('MaxPool3d',(2,),(1,2,4,4,5))
add('AvgPool1d',(3,2,1,True,False),(2,3,7)); add('AvgPool2d',((2,3),(),1,False,True,5),(2,3,5,6),targs=((2,3),None,1,False,True,5)); add('AvgPool3d',(2,(),0,False,True,3),(1,2,4,4,5),targs=(2,None,0,False,True,3))
for d in (1,2,3):
    z=(1,2)+(5,6,4)[:d]
    add(f'AdaptiveAvgPool{d}d',(3,),z); add(f'AdaptiveMaxPool{d}d',(2,),z)
    add(f'LPPool{d}d',(2.0,2),z); add(f'LPPool{d}d',(4.0,2,1,True),z)
    add(f'LPPool{d}d',(float('inf'),2),z)
    if d==1: add('LPPool1d',(float('-inf'),2),z)
    for k in ('Zero','Reflection','Replication','Circular'):
        add(f"{k}Pad{d}d",(2,),z); add(f"{k}Pad{d}d",((1,2,0,2,3,1)[:2*d],),z[1:])
    add(f'ConstantPad{d}d',(tuple([1,-1,0,2,-2,1][:2*d]),0.5),z)
    add(f'BatchNorm{d}d',(2,0.1,0.3),(3,2)+(4,2,2)[:d])
    add(f'InstanceNorm{d}d',(2,),(3,2)+(4,2,2)[:d]); add(f'InstanceNorm{d}d',(2,0.1,0.3,True,True),(3,2)+(4,2,2)[:d]); add(f'InstanceNorm{d}d',(2,0.1,0.1,True),(2,)+(4,2,2)[:d])
add('LayerNorm',((3,4),0.1),S); add('RMSNorm',(4,),S); add('RMSNorm',((3,4),0.1),S); add('RMSNorm',(4,0.01,False),S); add('GroupNorm',(2,4),(2,4,3))
add('Flatten',(),S); add('Unflatten',(1,(3,1)),S)
add('Upsample',((),2.0),(1,2,3),targs=(None,2.0)); add('Upsample',((4,5),(),'bilinear',True),(1,2,3,4),targs=((4,5),None,'bilinear',True)); add('Upsample',((),(1.5,2.0),'nearest'),(1,2,3,4),targs=(None,(1.5,2.0),'nearest'))
add('PixelShuffle',(2,),(1,8,2,3)); add('PixelUnshuffle',(2,),(1,2,4,6))
add('Unfold',((2,3),1,(1,0),2),(1,2,5,6)); add('Fold',((4,5),(2,3),1,(1,0),2),(1,12,6))
add('Dropout',(0.5,),S,random=True)
for d in (1,2,3): add(f'Dropout{d}d',(0.5,),(2,3)+(4,2,2)[:d],random=True)
print('''// Layers with what PyTorch 2.15 gives for them in float64. Inputs are sample(sizes, 0), sample(sizes, 1), parameters in their
// order sample(sizes, 1), sample(sizes, 2); the numbers are weigh(output) of a call in training (NAN: it draws), and of one in
// evaluation behind it.
#pragma once

#include "ops_support.h"

namespace pytorch {

struct LayerRow {
  const char* name;
  tn::Object (*make)();
  std::vector<std::vector<int64_t>> inputs;
  std::vector<int64_t> sizes;  // of the output
  double training, evaluation;
  const char* state;  // names of its state
};

inline const std::vector<LayerRow>& layers() {
  // clang-format off
  static const std::vector<LayerRow> rows = {''')
print('\n'.join(rows))
print('''  };
  // clang-format on
  return rows;
}

}  // namespace pytorch''')
