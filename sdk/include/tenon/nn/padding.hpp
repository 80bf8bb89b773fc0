// The group 'padding' of the plugin 'layers', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/object.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace nn {

// x with borders of zeros. padding: one number, or two a dimension, the last dimension first;
// negative ones cut off.
inline Object ZeroPad1d(Ints padding) { return Object::create("ZeroPad1d", {padding}); }
// x with borders that mirror it, its edge not repeated. padding: one number, or two a dimension,
// the last dimension first.
inline Object ReflectionPad1d(Ints padding) { return Object::create("ReflectionPad1d", {padding}); }
// x with borders that repeat its edge. padding: one number, or two a dimension, the last dimension
// first.
inline Object ReplicationPad1d(Ints padding) { return Object::create("ReplicationPad1d", {padding}); }
// x with borders from its other end. padding: one number, or two a dimension, the last dimension
// first.
inline Object CircularPad1d(Ints padding) { return Object::create("CircularPad1d", {padding}); }
// x with borders of value. padding: one number, or two a dimension, the last dimension first;
// negative ones cut off.
inline Object ConstantPad1d(Ints padding, Float value) { return Object::create("ConstantPad1d", {padding, value}); }
// x with borders of zeros. padding: one number, or two a dimension, the last dimension first;
// negative ones cut off.
inline Object ZeroPad2d(Ints padding) { return Object::create("ZeroPad2d", {padding}); }
// x with borders that mirror it, its edge not repeated. padding: one number, or two a dimension,
// the last dimension first.
inline Object ReflectionPad2d(Ints padding) { return Object::create("ReflectionPad2d", {padding}); }
// x with borders that repeat its edge. padding: one number, or two a dimension, the last dimension
// first.
inline Object ReplicationPad2d(Ints padding) { return Object::create("ReplicationPad2d", {padding}); }
// x with borders from its other end. padding: one number, or two a dimension, the last dimension
// first.
inline Object CircularPad2d(Ints padding) { return Object::create("CircularPad2d", {padding}); }
// x with borders of value. padding: one number, or two a dimension, the last dimension first;
// negative ones cut off.
inline Object ConstantPad2d(Ints padding, Float value) { return Object::create("ConstantPad2d", {padding, value}); }
// x with borders of zeros. padding: one number, or two a dimension, the last dimension first;
// negative ones cut off.
inline Object ZeroPad3d(Ints padding) { return Object::create("ZeroPad3d", {padding}); }
// x with borders that mirror it, its edge not repeated. padding: one number, or two a dimension,
// the last dimension first.
inline Object ReflectionPad3d(Ints padding) { return Object::create("ReflectionPad3d", {padding}); }
// x with borders that repeat its edge. padding: one number, or two a dimension, the last dimension
// first.
inline Object ReplicationPad3d(Ints padding) { return Object::create("ReplicationPad3d", {padding}); }
// x with borders from its other end. padding: one number, or two a dimension, the last dimension
// first.
inline Object CircularPad3d(Ints padding) { return Object::create("CircularPad3d", {padding}); }
// x with borders of value. padding: one number, or two a dimension, the last dimension first;
// negative ones cut off.
inline Object ConstantPad3d(Ints padding, Float value) { return Object::create("ConstantPad3d", {padding, value}); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
