// All ops of the standard pack, as functions and as methods of Tensor: a file for each group of ops,
// generated from what the pack registers, and what is written by hand beside them.
#pragma once

#include "tenon/indexing.hpp"
#include "tenon/ops/attention.hpp"
#include "tenon/ops/by_hand.hpp"
#include "tenon/ops/conv.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/index.hpp"
#include "tenon/ops/loss.hpp"
#include "tenon/ops/matmul.hpp"
#include "tenon/ops/methods.hpp"
#include "tenon/ops/norm.hpp"
#include "tenon/ops/operators.hpp"
#include "tenon/ops/optim.hpp"
#include "tenon/ops/pool.hpp"
#include "tenon/ops/primitive.hpp"
#include "tenon/ops/random.hpp"
#include "tenon/ops/reduce.hpp"
#include "tenon/ops/resize.hpp"
#include "tenon/ops/shape.hpp"
#include "tenon/row_sparse.hpp"
