// What the entries of the fake cuDNN share: handles, and how a call fails.
#pragma once

#include <cuda.h>
#include <cudnn_graph.h>

#include <string>

extern "C" bool tenon_fake_put(CUstream, const char*, void (*)(void*), void*, void (*)(void*));
extern "C" char* tenon_fake_view(const void*, size_t);

struct cudnnContext {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
};

namespace fake {

// The status, with the reason for cudnnGetLastErrorString.
cudnnStatus_t refuse(cudnnStatus_t status, const std::string& why);

// The status that a call is to fail with, as the environment says.
cudnnStatus_t wanted_failure(const char* entry);

bool is_handle(cudnnHandle_t handle);

}  // namespace fake

#define ENTER(name) \
  if (const cudnnStatus_t failed = fake::wanted_failure(#name)) return failed
