// The ground of the C++ face: the host's tables, errors, and the two crossings between C++ and C.
// Applications get the tables from tenon.hpp, plugins from plugin.hpp; nothing here has a symbol of
// libtenon.so. All names are hidden, so that every shared object has its own copy of the face and
// shares nothing by accident.
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "tenon/abi.h"

#define TENON_HIDDEN [[gnu::visibility("hidden")]]
// Ends the declaration of a function that no program may call. Compilers say why: clang in its
// error, g++ by the line of the declaration, which it shows.
#if defined(__clang__)
#define TENON_REFUSED(why) __attribute__((unavailable(why)))
#else
#define TENON_REFUSED(why) = delete
#endif
#if defined(__GNUC__) && !defined(__clang__)
// An application's own classes are visible by default: g++ would warn of each that holds a Tensor,
// which is hidden.
#pragma GCC diagnostic ignored "-Wattributes"
#endif

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

// How this shared object gets the host's table at the first use of the face: tenon.hpp sets it. NULL
// in plugins, which get the table when they are loaded.
using Attach = void (*)();
inline constinit Attach attach_at_first_use = nullptr;

// One of the host's tables. The first use in an application attaches it, and throws an Error that
// says what is missing; later ones cost one test of the pointer. Thread-safe.
template <typename T>
class Table {
 public:
  constexpr explicit Table(const char* name) noexcept : name_(name) {}
  const T* operator->() const { return get(); }
  const T* get() const {
    const T* table = known();
    return table != nullptr ? table : first_use();
  }
  // For what cannot be called before a first use; else NULL.
  const T* known() const noexcept { return __atomic_load_n(&table_, __ATOMIC_ACQUIRE); }
  void set(const T* table) noexcept { __atomic_store_n(&table_, table, __ATOMIC_RELEASE); }
  // As `set`, with what the host gives by this name, if that is as large as this program's.
  void find(const tn_host* host) noexcept {
    const T* table = static_cast<const T*>(host->get_interface(name_));
    set(table != nullptr && table->size >= sizeof(T) ? table : nullptr);
  }

 private:
  [[gnu::cold, gnu::noinline]] const T* first_use() const;
  const char* name_;
  const T* table_ = nullptr;
};

struct Api {
  Table<tn_host> host{"host"};
  Table<tn_tensor_api> tensor{"tensor/1"};
  Table<tn_device_api> device{"device/1"};
  Table<tn_autograd_api> autograd{"autograd/1"};
  Table<tn_rows_api> rows{"rows/1"};
  Table<tn_random_api> random{"random/1"};
  Table<tn_amp_api> amp{"amp/1"};
  Table<tn_object_api> object{"object/1"};
  Table<tn_plugin_api> plugin{"plugin/1"};
  Table<tn_explain_api> explain{"explain/1"};
  Table<tn_profile_api> profile{"profile/1"};
  Table<tn_schema_api> schema{"schema/1"};
};
inline constinit Api api{};

// One of the tables that the face itself does not use; NULL: there is none of that name.
template <typename T>
const T* find_interface(const tn_host* host, const char* name) {
  return static_cast<const T*>(host->get_interface(name));
}

inline void attach(const tn_host* host) {
  api.tensor.find(host);
  api.device.find(host);
  api.autograd.find(host);
  api.rows.find(host);
  api.random.find(host);
  api.amp.find(host);
  api.object.find(host);
  api.plugin.find(host);
  api.explain.find(host);
  api.profile.find(host);
  api.schema.find(host);
  api.host.set(host);
}

// Where a handle, an op or an error of the host's is there already.
inline const tn_host* known_host() noexcept { return api.host.known(); }

}  // namespace detail

// The host's table. Valid for the life of the process. Errors: as every first use.
inline const tn_host* host() { return detail::api.host.get(); }

// What every failure of the face throws. Copies share one status. Thread-safe to copy and read.
// Making one never fails: where there is no memory for what it should hold, it is an error of code
// TN_OUT_OF_MEMORY.
class Error : public std::exception {
 public:
  // Takes a status of the host.
  explicit Error(tn_status* status) noexcept {
    try {
      held_ = new Held{1, detail::known_host()->status_code(status), status,
                       detail::known_host()->status_message(status)};
    } catch (const std::bad_alloc&) {
      detail::known_host()->status_free(status);
    }
  }
  explicit Error(std::string message, tn_code code = TN_INVALID_ARGUMENT) noexcept
      : held_(new (std::nothrow) Held{1, code, nullptr, std::move(message)}) {}
  Error(const Error& other) noexcept : std::exception(other), held_(other.held_) {
    if (held_) __atomic_fetch_add(&held_->refs, 1, __ATOMIC_RELAXED);
  }
  Error& operator=(const Error& other) noexcept {
    Error copy(other);
    std::swap(held_, copy.held_);
    return *this;
  }
  ~Error() override {
    if (held_ && __atomic_sub_fetch(&held_->refs, 1, __ATOMIC_ACQ_REL) == 0) {
      if (held_->status) detail::known_host()->status_free(held_->status);
      delete held_;
    }
  }

  tn_code code() const noexcept { return held_ ? held_->code : tn_code{TN_OUT_OF_MEMORY}; }
  const char* what() const noexcept override {
    return held_ ? held_->message.c_str() : "host memory is exhausted";
  }

  // An owned status that says the same; it keeps its causes and payload as long as this is the only
  // copy of the error.
  tn_status* to_status() const noexcept {
    const bool alone = held_ && __atomic_load_n(&held_->refs, __ATOMIC_ACQUIRE) == 1;
    if (alone && held_->status) return std::exchange(held_->status, nullptr);
    return detail::known_host()->status(code(), what(), nullptr);
  }

 private:
  struct Held {
    long refs;
    tn_code code;
    tn_status* status;
    std::string message;
  };
  Held* held_ = nullptr;  // NULL: memory was exhausted
};

// Throws an Error with this message.
[[noreturn, gnu::cold, gnu::noinline]] inline void fail(std::string message,
                                                        tn_code code = TN_INVALID_ARGUMENT) {
  throw Error(std::move(message), code);
}

namespace detail {

template <typename T>
const T* Table<T>::first_use() const {
  if (attach_at_first_use != nullptr && known_host() == nullptr) attach_at_first_use();
  if (const T* table = known()) return table;
  if (known_host() == nullptr) {
    fail(
        "Tenon's tables are not there: an application includes tenon/tenon.hpp, and a plugin uses "
        "them when it is loaded",
        TN_FAILED_PRECONDITION);
  }
  const T* smaller = static_cast<const T*>(known_host()->get_interface(name_));
  std::string message = "this program needs the interface '";
  message.append(name_).append("', which this libtenon.so ");
  if (smaller == nullptr) {
    message += "does not have";
  } else {
    message.append("has with ").append(std::to_string(smaller->size));
    message.append(" bytes, expected ").append(std::to_string(sizeof(T)));
  }
  fail(std::move(message), TN_FAILED_PRECONDITION);
}

// One text of several, by appending: of "text" + std::to_string(n) g++ 12 warns at -O3 in the
// programs of users (-Wrestrict), without a reason.
inline std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text += part;
  return text;
}

// Found again by this address: exceptions of one shared object are rethrown in that object only.
inline const void* exception_tag() noexcept { return &api; }

inline void destroy_exception(void* payload) { delete static_cast<std::exception_ptr*>(payload); }

// Throws what `status` (taken) stands for: the exception that it carries, when this shared object
// threw it, else an Error.
[[noreturn, gnu::cold, gnu::noinline]] inline void raise(tn_status* status) {
  if (void* payload = detail::known_host()->status_payload(status, exception_tag())) {
    std::exception_ptr exception = *static_cast<std::exception_ptr*>(payload);
    detail::known_host()->status_free(status);
    std::rethrow_exception(std::move(exception));
  }
  throw Error(status);
}

// The exception being handled as an owned status. To be called in a catch block.
[[gnu::cold, gnu::noinline]] inline tn_status* current_exception_status() noexcept {
  const tn_host* h = known_host();
  auto with_payload = [h](tn_status* status) {
    if (auto* payload = new (std::nothrow) std::exception_ptr(std::current_exception())) {
      h->status_set_payload(status, exception_tag(), payload, destroy_exception);
    }
    return status;
  };
  try {
    throw;
  } catch (const Error& e) {
    return e.to_status();
  } catch (const std::bad_alloc&) {
    return h->status(TN_OUT_OF_MEMORY, "host memory is exhausted", nullptr);
  } catch (const std::exception& e) {
    return with_payload(h->status(TN_EXCEPTION, e.what(), nullptr));
  } catch (...) {
    return with_payload(h->status(TN_EXCEPTION, "an exception that is no std::exception", nullptr));
  }
}

}  // namespace detail

// Throws when `status` (taken) is an error.
inline void check(tn_status* status) {
  if (status) [[unlikely]]
    detail::raise(status);
}

namespace detail {
// A text that the host gave away.
inline std::string take_text(const char* text) {
  struct Free {
    const char* text;
    ~Free() { api.host->text_free(text); }
  } free{text};
  return text ? text : "";
}
}  // namespace detail

// Runs C++ code at a C border: exceptions become statuses. The body gives nothing, or a tn_status*.
template <typename Body>
tn_status* to_status(Body&& body) noexcept {
  try {
    if constexpr (requires { static_cast<tn_status*>(body()); }) {
      return body();
    } else {
      body();
      return nullptr;
    }
  } catch (...) {
    return detail::current_exception_status();
  }
}

// Drops an error on purpose, where none may be thrown (destructors).
inline void ignore(tn_status* status) noexcept {
  if (status) detail::known_host()->status_free(status);
}

namespace detail {
// Of a removal: what is not there any more is removed.
inline void check_removed(tn_status* status) {
  if (status && known_host()->status_code(status) == TN_NOT_FOUND) return ignore(status);
  check(status);
}
// Logs an error that a destructor may not throw, under the name of what failed.
inline void log_failure(const char* what, tn_status* status) noexcept {
  if (!status) return;
  try {
    known_host()->log(3, joined({what, ": ", known_host()->status_message(status)}).c_str());
  } catch (...) {  // no memory for the text
  }
  ignore(status);
}
}  // namespace detail

}  // namespace v0
}  // namespace tenon
