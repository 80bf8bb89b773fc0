// All ops of the standard pack, as functions and as methods of Tensor. A family a file; what a
// new op takes is in docs/add_an_op.md.
#pragma once

#include "tenon/ops/attention.hpp"
#include "tenon/ops/conv.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/index.hpp"
#include "tenon/ops/loss.hpp"
#include "tenon/ops/matmul.hpp"
#include "tenon/ops/methods.hpp"
#include "tenon/ops/norm.hpp"
#include "tenon/ops/optim.hpp"
#include "tenon/ops/pool.hpp"
#include "tenon/ops/primitive.hpp"
#include "tenon/ops/random.hpp"
#include "tenon/ops/reduce.hpp"
#include "tenon/ops/resize.hpp"
#include "tenon/ops/shape.hpp"
