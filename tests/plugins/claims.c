/* Claims names that one plugin only can have: a factory, an AMP policy, the compute threads. */
#include "small.h"

SMALL_MANIFEST(TN_ABI_VERSION);
SMALL_COUNTS_DESTROY

static tn_status* create(void* self, tn_object* object, const tn_value* args, uint32_t n_args) {
  return (void)self, (void)object, (void)args, (void)n_args, NULL;
}
static tn_amp_class classify(void* self, const char* op, tn_amp_class own, const char* device) {
  return (void)self, (void)op, (void)device, own;
}
static int32_t count(void* self) { return (void)self, 1; }
static void parallel_for(void* self, int64_t begin, int64_t end, int64_t grain, tn_range_fn fn,
                         void* context) {
  (void)self, (void)grain;
  fn(context, begin, end);
}

TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* registrar, void** self) {
  (void)host, (void)self;
#ifdef CLAIMS_FACTORY
  tn_factory_def factory = {sizeof(factory)};
  factory.schema = CLAIMS_FACTORY "(int n)";
  factory.create = create;
  factory.self = &small_self;
  factory.destroy = count_destroy;
  SMALL_TRY(registrar->factory(registrar, &factory));
#else
  (void)create, (void)count_destroy;
#endif
#ifdef CLAIMS_POLICY
  tn_amp_policy_def policy = {sizeof(policy)};
  policy.name = CLAIMS_POLICY;
  policy.classify = classify;
  SMALL_TRY(registrar->amp(registrar, &policy));
#else
  (void)classify;
#endif
#ifdef CLAIMS_THREADS
  tn_threads_def threads = {sizeof(threads)};
  threads.count = count;
  threads.parallel_for = parallel_for;
  SMALL_TRY(registrar->threads(registrar, &threads));
#else
  (void)count, (void)parallel_for;
#endif
  return NULL;
}
