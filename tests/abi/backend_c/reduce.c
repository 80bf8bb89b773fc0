/* REDUCE: for each kept index, fold the prologue over the reduced ones, then the epilogue. Floats
 * fold in double. */
#include "acme.h"

/* What is folded so far: f counts for floats, i for integers. */
typedef struct folded {
  double f;
  int64_t i;
  int64_t position; /* of the value that won */
  int64_t n;        /* values so far */
} folded;

/* A NaN beats all numbers; the first among equals stays. */
static int32_t beats(double b, double a, int32_t max) {
  return a == a && (b != b || (max ? b > a : b < a));
}

static void fold(tn_reduce_kind kind, int32_t is_float, folded* total, double f, int64_t i) {
  const int32_t max = kind == TN_REDUCE_MAX || kind == TN_REDUCE_ARGMAX;
  const int64_t position = total->n++;
  if (position == 0) {
    total->f = f, total->i = i, total->position = 0;
  } else if (kind == TN_REDUCE_SUM) {
    total->f += f;
    total->i = (int64_t)((uint64_t)total->i + (uint64_t)i);
  } else if (kind == TN_REDUCE_PROD) {
    total->f *= f;
    total->i = (int64_t)((uint64_t)total->i * (uint64_t)i);
  } else if (is_float ? beats(f, total->f, max) : max ? i > total->i : i < total->i) {
    total->f = f, total->i = i, total->position = position;
  }
}

/* Folds one row of at most ACME_TILE values in `value`. */
static void fold_tile(const tn_reduction* r, const acme_register* value, int64_t n, folded* total) {
  for (int64_t j = 0; j < n; ++j) {
    if (r->accumulate == TN_FLOAT32) {
      fold(r->kind, 1, total, value->f[j], 0);
    } else if (r->accumulate == TN_FLOAT64) {
      fold(r->kind, 1, total, value->d[j], 0);
    } else {
      fold(r->kind, 0, total, 0, value->i[j]);
    }
  }
}

/* The prologue of the row that begins at `index`, folded. `scratch`: the register that its result
 * goes through. */
static tn_status* fold_row(const tn_reduction* r, int64_t* index, acme_register* registers,
                           acme_register* scratch, acme_lane* lanes, folded* total) {
  const int32_t last = r->ndim - 1;
  const uint32_t n_inputs = r->prologue ? r->prologue->n_inputs : 1;
  const acme_lane result = {(char*)scratch, r->accumulate == TN_FLOAT32 ? 4 : 8, r->accumulate};
  tn_status* status;
  for (index[last] = 0; index[last] < r->sizes[last]; index[last] += ACME_TILE) {
    const int64_t left = r->sizes[last] - index[last];
    const int64_t n = left < ACME_TILE ? left : ACME_TILE;
    for (uint32_t k = 0; k < n_inputs; ++k) {
      if ((status = acme_lane_at(&r->operands[1 + k], r->ndim, index, &lanes[k])) != NULL)
        return status;
    }
    if (r->prologue == NULL) {
      acme_load(scratch, r->accumulate, lanes[0], n);
    } else if ((status = acme_evaluate(r->prologue, r->prologue_params, registers, lanes, &result,
                                       n)) != NULL) {
      return status;
    }
    fold_tile(r, scratch, n, total);
  }
  index[last] = 0;
  return NULL;
}

static tn_status* store(const tn_reduction* r, const folded* total, acme_register* registers,
                        acme_lane to) {
  acme_register value;
  const acme_lane from = {(char*)&value, 0, r->accumulate};
  if (r->kind == TN_REDUCE_ARGMAX || r->kind == TN_REDUCE_ARGMIN) {
    value.i[0] = total->position;
    acme_store(to, &value, TN_INT64, 1);
    return NULL;
  }
  if (r->accumulate == TN_FLOAT32) {
    value.f[0] = (float)total->f;
  } else if (r->accumulate == TN_FLOAT64) {
    value.d[0] = total->f;
  } else {
    value.i[0] = total->i;
  }
  if (r->epilogue != NULL)
    return acme_evaluate(r->epilogue, r->epilogue_params, registers, &from, &to, 1);
  acme_store(to, &value, r->accumulate, 1);
  return NULL;
}

static uint32_t registers_of(const tn_program* program) {
  return program == NULL ? 0 : program->n_registers;
}

tn_status* acme_reduce(void* self, const tn_call* call) {
  const tn_reduction* r = call->args[0].as.reduction;
  const int32_t n_kept = r->ndim - r->n_reduced;
  const uint32_t before = registers_of(r->prologue), after = registers_of(r->epilogue);
  const uint32_t n_registers = 1 + (before > after ? before : after);
  const uint32_t n_lanes = r->prologue ? r->prologue->n_inputs : 1;
  int64_t index[TN_MAX_RANK] = {0};
  acme_register* registers;
  acme_lane* lanes;
  void* memory;
  tn_status* status;
  (void)self;
  if ((status = call->host->workspace(
           call, n_registers * sizeof(acme_register) + n_lanes * sizeof(acme_lane), &memory)) !=
      NULL)
    return status;
  registers = (acme_register*)(void*)acme_real(memory); /* the first is scratch */
  lanes = (acme_lane*)(void*)(registers + n_registers);
  do {
    folded total = {0};
    acme_lane to;
    if ((status = acme_lane_at(&r->operands[0], r->ndim, index, &to)) != NULL) return status;
    do {
      if ((status = fold_row(r, index, registers + 1, registers, lanes, &total)) != NULL)
        return status;
    } while (acme_next(index, r->sizes, n_kept, r->ndim - 1));
    if ((status = store(r, &total, registers + 1, to)) != NULL) return status;
  } while (acme_next(index, r->sizes, 0, n_kept));
  return NULL;
}
