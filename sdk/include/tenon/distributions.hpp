// Probability distributions by the names and meanings of torch.distributions:
//
//   distributions::Normal policy(mean, exp(log_std));
//   Tensor action = policy.sample();
//   Tensor loss = -(policy.log_prob(action) * advantage).mean() - 0.01 * policy.entropy().mean();
//
// Each has log_prob, entropy, perplexity, sample, rsample, mean, mode, variance, stddev, batch_shape
// and event_shape, with the exceptions that docs/training.md lists;
// kl_divergence(p, q) takes the pairs that PyTorch has among them. A parameter is a tensor of
// floats or a number; several broadcast. They are made of ops, so they work on every device, with
// gradients and in compiled functions.
#pragma once

#include "tenon/distributions/circular.hpp"
#include "tenon/distributions/composed_transforms.hpp"
#include "tenon/distributions/continuous.hpp"
#include "tenon/distributions/continuous_bernoulli.hpp"
#include "tenon/distributions/counts.hpp"
#include "tenon/distributions/discrete.hpp"
#include "tenon/distributions/distribution.hpp"
#include "tenon/distributions/gamma.hpp"
#include "tenon/distributions/gamma_quotients.hpp"
#include "tenon/distributions/kl.hpp"
#include "tenon/distributions/kl_pairs.hpp"
#include "tenon/distributions/kl_vectors.hpp"
#include "tenon/distributions/location_scale.hpp"
#include "tenon/distributions/low_rank_multivariate_normal.hpp"
#include "tenon/distributions/matrices.hpp"
#include "tenon/distributions/mixture.hpp"
#include "tenon/distributions/multivariate_normal.hpp"
#include "tenon/distributions/powers.hpp"
#include "tenon/distributions/relaxed.hpp"
#include "tenon/distributions/transform_shapes.hpp"
#include "tenon/distributions/transformed.hpp"
#include "tenon/distributions/transforms.hpp"
#include "tenon/distributions/vector_transforms.hpp"
