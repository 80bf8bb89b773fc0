// oneDNN's convolutions, in pieces: some images and some channels of the result each, and gradients
// of weights add up the pieces' parts in order. Pieces depend on the sizes alone, and oneDNN
// computes each on one thread. Each runs in the layouts that oneDNN chooses, with reorders in front
// and behind: in row-major tensors it is up to a half slower than in its own, and the reorders are
// a twentieth. What a piece reorders for itself is still in the cache when it is read.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "dnnl/convolution_kernel.h"

namespace tenon::cpu_backend {
namespace {

using dnnl::memory;
using Problem = tenon_cpu_dnnl_convolution;

constexpr size_t kConvolutions = 512;  // of a deep network, forward and backward
constexpr int64_t kMostPieces = 16;
constexpr double kLeastWork = 3e6;      // of a piece, in operations: more than waking a thread
constexpr double kWorkOfElement = 60;   // of reading or writing one
constexpr int64_t kLeastPlaces = 784;   // of a piece: oneDNN is slower on fewer
constexpr int64_t kPieceChannels = 64;  // of a piece, or half of them where pieces are few
constexpr int64_t kFewPieces = 4;
// Elements of a gradient of weights that is large, and the places that must be worth another sum.
constexpr int64_t kManyWeights = 1 << 16, kPlacesOfMany = 2000, kPlacesOfFew = 700;
constexpr int64_t kSumElements = 1 << 14;

using Key = std::array<int64_t, sizeof(Problem) / sizeof(int64_t)>;
static_assert(sizeof(Key) == sizeof(Problem));

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

// How a problem is cut, and the kernels for pieces with the usual number of images and with the
// last one's.
struct Plan {
  Problem p;
  Cut images, channels;  // channels: of x for its own gradient, else of y
  ConvKernel kernels[2];
  bool ahead[3] = {};    // read by several pieces: reordered once, before them
  size_t bytes[3] = {};  // of a part as oneDNN wants it
  size_t scratchpad = 0, bias = 0;

  int result() const { return static_cast<int>(p.result); }
  bool sums() const { return result() == kWeight && images.count() > 1; }
  // Which of the cuts go through a part.
  bool by_images(int part) const { return part != kWeight; }
  bool by_channels(int part) const { return part != (result() == kX ? kY : kX); }
  int64_t count(int part) const {
    return (by_images(part) ? images.count() : 1) * (by_channels(part) ? channels.count() : 1);
  }
  int64_t index(int part, int64_t g, int64_t c) const {
    return (by_images(part) ? g : 0) * (by_channels(part) ? channels.count() : 1) +
           (by_channels(part) ? c : 0);
  }
  // In elements of the part as given.
  int64_t offset(int part, int64_t g, int64_t c) const {
    const int64_t* strides = p.strides[part];
    const int64_t channel_stride = part == kWeight && result() != kX ? strides[0] : strides[1];
    return (by_images(part) ? images.begin(g) * strides[0] : 0) +
           (by_channels(part) ? channels.begin(c) * channel_stride : 0);
  }
};

int64_t product(const int64_t* sizes, int64_t n) {
  int64_t result = 1;
  for (int64_t i = 0; i < n; ++i) {
    result *= sizes[i];
  }
  return result;
}

// What a problem costs, in operations. The gradient of x is computed in whole blocks of channels.
double work_of(const Problem& p) {
  const int64_t in = p.result == kX && p.groups == 1 ? (p.in + 15) / 16 * 16 : p.in / p.groups;
  const double places = static_cast<double>(p.batch * product(p.y_sizes, p.n));
  const double elements = places * static_cast<double>(p.out) +
                          static_cast<double>(p.batch * p.in * product(p.x_sizes, p.n));
  return 2 * places * static_cast<double>(p.out * in * product(p.kernel, p.n)) +
         kWorkOfElement * elements;
}

// Images are cut first: each is a problem of its own. But a part of the gradient of the weights is
// as large as these, so that is cut by channels where it can be, and by images where these have
// many places.
void cut(const Problem& p, Plan* plan) {
  const int64_t wanted =
      static_cast<int64_t>(std::clamp(work_of(p) / kLeastWork, 1.0, double{kMostPieces}));
  const int64_t places = p.batch * product(p.y_sizes, p.n);
  const int64_t size = p.result == kX ? p.in : p.out;
  const auto channels_of = [&](int64_t unit, int64_t most) {
    return p.groups == 1 && size % unit == 0 ? std::min(size / unit, most) : 1;
  };
  int64_t channels = 1, images = 1;
  if (p.result == kWeight) {
    const bool many = p.in / p.groups * p.out * product(p.kernel, p.n) >= kManyWeights;
    channels = many ? channels_of(kPieceChannels, wanted) : 1;
    images = std::min({p.batch, wanted / channels, places / (many ? kPlacesOfMany : kPlacesOfFew)});
  } else {
    images = std::min({p.batch, wanted, places / kLeastPlaces});
  }
  images = std::max<int64_t>(images, 1);
  channels = std::max(channels, channels_of(kPieceChannels, wanted / images));
  if (images * channels < kFewPieces) {
    channels = std::max(channels, channels_of(kPieceChannels / 2, std::min<int64_t>(wanted, 2)));
  }
  plan->images = Cut(p.batch, images, 1);
  plan->channels = Cut(size, channels, 1);
  if (plan->channels.variants() > 1 || plan->channels.size % (kPieceChannels / 2) != 0) {
    plan->channels = Cut(size, 1, 1);
  }
}

std::shared_ptr<const Plan> make_plan(const Problem& p) {
  const OneThread one_thread;
  auto plan = std::make_shared<Plan>();
  plan->p = p;
  cut(p, plan.get());
  const memory::desc* weight = nullptr;
  for (int64_t v = 0; v < plan->images.variants(); ++v) {
    Problem piece = p;
    piece.batch = plan->images.length_of(v);
    (p.result == kX ? piece.in : piece.out) = plan->channels.size;
    ConvKernel& kernel = plan->kernels[v];
    make_kernel(piece, plan->sums(), weight, &kernel);
    weight = &kernel.parts[kWeight].wanted;
    for (int i = 0; i < 3; ++i) {
      const ConvPart& part = kernel.parts[i];
      const size_t bytes = part.reorders ? aligned(part.wanted.get_size()) : 0;
      plan->bytes[i] = std::max(plan->bytes[i], bytes);
      const int64_t pieces = plan->images.count() * plan->channels.count();
      plan->ahead[i] |= part.reorders && i != kernel.result && plan->count(i) < pieces;
    }
    plan->scratchpad = std::max(plan->scratchpad, aligned(kernel.scratchpad.get_size()) + 64);
    plan->bias = kernel.has_bias ? aligned(static_cast<size_t>(plan->channels.size) * 4) : 0;
  }
  return plan;
}

std::shared_ptr<const Plan> find(const Problem& p) {
  static auto* plans = new KernelCache<Key, Plan>(kConvolutions);
  Key key;
  std::memcpy(&key, &p, sizeof key);
  return plans->find(key, [&p] { return make_plan(p); });
}

// Where a call's memory lies in its scratch: parts that are reordered ahead, or added up
// afterwards; then each thread's own.
struct Layout {
  size_t shared[3], biases, own, bytes;
  size_t in_own[3], scratchpad, own_bytes = 0;

  Layout(const Plan& plan, int64_t threads) {
    size_t at = 0;
    for (int i = 0; i < 3; ++i) {
      const bool sums = i == plan.result() && plan.sums();
      const int64_t count = sums ? pieces(plan) : plan.count(i);
      shared[i] = at;
      at += plan.ahead[i] || sums ? plan.bytes[i] * static_cast<size_t>(count) : 0;
      in_own[i] = own_bytes;
      own_bytes += plan.ahead[i] || sums ? 0 : plan.bytes[i];
    }
    biases = at;
    at += plan.sums() ? plan.bias * static_cast<size_t>(pieces(plan)) : 0;
    scratchpad = own_bytes;
    own_bytes += plan.scratchpad;
    own = at;
    bytes = at + own_bytes * static_cast<size_t>(std::min(threads, pieces(plan)));
  }
  static int64_t pieces(const Plan& plan) { return plan.images.count() * plan.channels.count(); }
};

// oneDNN writes zeros into the padding of a layout when an address is set, so only another is.
void set_address(const memory& m, void* address) {
  if (m.get_data_handle() != address) {
    m.set_data_handle(address);
  }
}

// A kernel's objects for as long as this lives.
class Borrowed {
 public:
  explicit Borrowed(const ConvKernel& kernel) : kernel_(kernel), bound_(kernel.borrow()) {}
  Borrowed(const Borrowed&) = delete;
  ~Borrowed() { kernel_.give_back(std::move(bound_)); }
  ConvBound* operator->() const { return bound_.get(); }

 private:
  const ConvKernel& kernel_;
  std::unique_ptr<ConvBound> bound_;
};

// One call. A piece: images g, channels c.
class Call {
 public:
  Call(const Plan& plan, const tenon_cpu_dnnl_data& data, void* scratch,
       const tenon_cpu_dnnl_threads& threads)
      : plan_(plan),
        data_(data),
        layout_(plan, threads.count),
        base_(static_cast<char*>(scratch)),
        threads_(threads),
        channels_(plan.channels.count()) {}

  void run() const {
    for (int part = 0; part < 3; ++part) {
      if (plan_.ahead[part]) {
        each_piece(threads_, plan_.count(part), [&](int64_t, int64_t i) {
          const bool by_channels = plan_.by_channels(part);
          reorder_ahead(part, by_channels ? i / channels_ : i, by_channels ? i % channels_ : 0);
        });
      }
    }
    each_piece(threads_, Layout::pieces(plan_),
               [&](int64_t thread, int64_t i) { compute(thread, i / channels_, i % channels_); });
    if (plan_.sums()) {
      add_up();
    }
  }

 private:
  const ConvKernel& kernel(int64_t g) const { return plan_.kernels[plan_.images.variant(g)]; }
  float* given(int part, int64_t g, int64_t c) const {
    return data_.tensors[part] + plan_.offset(part, g, c);
  }
  float* given_bias(int64_t c) const { return data_.bias + plan_.channels.begin(c); }
  char* shared(int part, int64_t i) const {
    return base_ + layout_.shared[part] + plan_.bytes[part] * static_cast<size_t>(i);
  }
  // The sum of a piece, to be added up.
  float* sum(int64_t g, int64_t c) const {
    return reinterpret_cast<float*>(shared(kWeight, g * channels_ + c));
  }
  float* sum_of_bias(int64_t g, int64_t c) const {
    return reinterpret_cast<float*>(base_ + layout_.biases +
                                    plan_.bias * static_cast<size_t>(g * channels_ + c));
  }

  void reorder_ahead(int part, int64_t g, int64_t c) const {
    const ConvKernel& k = kernel(plan_.by_images(part) ? g : 0);
    const Borrowed bound(k);
    set_address(bound->given[part], given(part, g, c));
    set_address(bound->wanted[part], shared(part, plan_.index(part, g, c)));
    k.parts[part].reorder.dnnl::primitive::execute(bound->stream, bound->reorders[part]);
  }

  void compute(int64_t thread, int64_t g, int64_t c) const {
    const ConvKernel& k = kernel(g);
    const Borrowed bound(k);
    char* const own = base_ + layout_.own + layout_.own_bytes * static_cast<size_t>(thread);
    for (int i = 0; i < 3; ++i) {
      const ConvPart& part = k.parts[i];
      set_address(bound->given[i], given(i, g, c));
      if (!part.reorders) {
        continue;
      }
      const bool sums = i == k.result && plan_.sums();
      set_address(bound->wanted[i], sums             ? static_cast<void*>(sum(g, c))
                                    : plan_.ahead[i] ? shared(i, plan_.index(i, g, c))
                                                     : own + layout_.in_own[i]);
      if (i != k.result && !plan_.ahead[i]) {
        part.reorder.dnnl::primitive::execute(bound->stream, bound->reorders[i]);
      }
    }
    if (k.has_bias) {
      set_address(bound->bias, plan_.sums() ? sum_of_bias(g, c) : given_bias(c));
    }
    set_address(bound->scratchpad, own + layout_.scratchpad);
    k.convolution.execute(bound->stream, bound->arguments);
    if (k.parts[k.result].reorders && !plan_.sums()) {
      k.parts[k.result].reorder.dnnl::primitive::execute(bound->stream, bound->reorders[k.result]);
    }
    bound->stream.wait();
  }

  // Adds the sums of all images up to those of the first, which become the result.
  void add_up() const {
    const int64_t n = static_cast<int64_t>(plan_.bytes[kWeight] / sizeof(float));
    const int64_t runs = (n + kSumElements - 1) / kSumElements;
    each_piece(threads_, channels_ * runs, [&](int64_t, int64_t i) {
      const int64_t c = i / runs, begin = i % runs * kSumElements;
      const int64_t count = std::min(kSumElements, n - begin);
      float* const first = sum(0, c) + begin;
      for (int64_t g = 1; g < plan_.images.count(); ++g) {
        const float* const next = sum(g, c) + begin;
        for (int64_t j = 0; j < count; ++j) {
          first[j] += next[j];
        }
      }
    });
    each_piece(threads_, channels_, [&](int64_t, int64_t c) {
      const ConvKernel& k = kernel(0);
      const Borrowed bound(k);
      set_address(bound->wanted[kWeight], sum(0, c));
      set_address(bound->given[kWeight], given(kWeight, 0, c));
      k.parts[kWeight].reorder.dnnl::primitive::execute(bound->stream, bound->reorders[kWeight]);
      for (int64_t j = 0; k.has_bias && j < plan_.channels.length(c); ++j) {
        float total = sum_of_bias(0, c)[j];
        for (int64_t g = 1; g < plan_.images.count(); ++g) {
          total += sum_of_bias(g, c)[j];
        }
        given_bias(c)[j] = total;
      }
    });
  }

  const Plan& plan_;
  const tenon_cpu_dnnl_data& data_;
  const Layout layout_;
  char* const base_;
  const tenon_cpu_dnnl_threads& threads_;
  const int64_t channels_;
};

}  // namespace

int64_t convolution_workspace(const Problem* p, int64_t threads) {
  try {
    return static_cast<int64_t>(Layout(*find(*p), threads).bytes);
  } catch (...) {
    return -failure();
  }
}

int32_t convolution(const Problem* p, const tenon_cpu_dnnl_data* data, void* scratch,
                    const tenon_cpu_dnnl_threads* threads) {
  try {
    const std::shared_ptr<const Plan> plan = find(*p);
    Call(*plan, *data, scratch, *threads).run();
    return 0;
  } catch (...) {
    return failure();
  }
}

}  // namespace tenon::cpu_backend
