// Streams and events. With one device everything is done when it is asked for, and there is nothing to wait for.
#include "streams.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "device.h"
#include "device_queues.h"
#include "devices.h"
#include "graph_parts.h"
#include "refusal.h"
#include "timing/predictor.h"

using namespace simt;

namespace {

// What a record of an event finds out. Work that was given before the event was recorded again keeps the old one.
struct Moment {
  std::chrono::steady_clock::time_point time;
  timing::Clock predicted;
  void take() {
    time = std::chrono::steady_clock::now();
    predicted = timing::predicted_clock();
  }
};

}  // namespace

struct CUevent_st {
  int device = 0;
  bool is_timed = true;
  std::shared_ptr<Moment> moment;  // null: never recorded
  Position position;
  std::shared_ptr<const CapturedPoint> captured;  // it was recorded by a stream that was being captured
};

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (!stream) return set_last_error(cudaErrorInvalidValue);
  static std::atomic<unsigned long long> streams{2};  // the null streams are 0, 1 and 2
  *stream = new CUstream_st{flags, current_device()};
  (*stream)->id = ++streams;
  return cudaSuccess;
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  if (!id) return set_last_error(cudaErrorInvalidValue);
  *id = is_named(stream) ? stream->id : static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(stream));
  return cudaSuccess;
}

namespace {
std::map<cudaStreamAttrID, cudaStreamAttrValue>& attributes_of(cudaStream_t stream) {
  static auto* const of_null = new std::map<cudaStreamAttrID, cudaStreamAttrValue>;
  return is_named(stream) ? stream->attributes : *of_null;
}
}  // namespace

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id, const cudaStreamAttrValue* value) {
  if (!value) return set_last_error(cudaErrorInvalidValue);
  attributes_of(stream)[id] = *value;
  return cudaSuccess;
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue* value) {
  if (!value) return set_last_error(cudaErrorInvalidValue);
  const auto& all = attributes_of(stream);
  const auto found = all.find(id);
  *value = found == all.end() ? cudaStreamAttrValue{} : found->second;
  return cudaSuccess;
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  attributes_of(to) = attributes_of(from);
  return cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  *flags = is_named(stream) ? stream->flags : cudaStreamDefault;
  return cudaSuccess;
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  *device = device_of(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (is_capturing(stream)) return cudaErrorStreamCaptureUnsupported;
  return set_last_error(wait_for_stream(stream));
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { return is_done(last_of(stream)) ? cudaSuccess : cudaErrorNotReady; }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (!event) return set_last_error(cudaErrorInvalidResourceHandle);
  if (event->captured) return wait_for_captured(stream, *event->captured);
  if (event->moment && is_capturing(stream)) return set_last_error(cudaErrorStreamCaptureIsolation);
  const Position position = event->position;
  if (!runs_later() || !event->moment || position.device == device_of(stream)) return cudaSuccess;
  enqueue(
      stream, [position] { return wait_for(position); }, "a wait for an event");
  return cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned) {
  if (is_capturing(stream)) return set_last_error(cudaErrorStreamCaptureUnsupported);
  return do_in_order(stream, [=] {
    callback(stream, cudaSuccess, data);
    return cudaSuccess;
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  const auto call = [=] {
    function(data);
    return cudaSuccess;
  };
  return do_or_capture(stream, call, cudaGraphNodeTypeHost);
}
cudaError_t cudaDeviceSynchronize() { return set_last_error(wait_for_device(current_device())); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (!event) return set_last_error(cudaErrorInvalidValue);
  *event = new CUevent_st{current_device(), !(flags & cudaEventDisableTiming), nullptr, {}, nullptr};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (!event) return set_last_error(cudaErrorInvalidResourceHandle);
  if (event->device != device_of(stream)) {
    set_last_error(cudaErrorInvalidResourceHandle);
    refuse_call(
        cudaErrorInvalidResourceHandle,
        "cudaEventRecord refused: the event and the stream are of different devices\nThe event was created on device " +
            std::to_string(event->device) + ", the stream is of device " + std::to_string(device_of(stream)) +
            ": call cudaSetDevice before cudaEventCreate and cudaStreamCreate.");
    return cudaErrorInvalidResourceHandle;
  }
  event->captured = captured_point(stream);
  event->moment = std::make_shared<Moment>();
  if (!runs_later() || is_capturing(stream)) {
    event->moment->take();
    event->position = {event->device, 0};
    return cudaSuccess;
  }
  event->position = enqueue(
      stream,
      [moment = event->moment] {
        moment->take();
        return cudaSuccess;
      },
      "the record of an event");
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (!event) return set_last_error(cudaErrorInvalidResourceHandle);
  if (event->captured) return set_last_error(cudaErrorCapturedEvent);
  return event->moment ? set_last_error(wait_for(event->position)) : cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (!event) return set_last_error(cudaErrorInvalidResourceHandle);
  if (event->captured) return set_last_error(cudaErrorCapturedEvent);
  return !event->moment || is_done(event->position) ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  if (!start || !stop || !start->moment || !stop->moment || start->device != stop->device || !start->is_timed ||
      !stop->is_timed)
    return set_last_error(cudaErrorInvalidResourceHandle);
  if (!is_done(start->position) || !is_done(stop->position)) return set_last_error(cudaErrorNotReady);
  const Moment &a = *start->moment, &b = *stop->moment;
  const std::optional<double> predicted = timing::predicted_between(a.predicted, b.predicted);
  *milliseconds = predicted ? static_cast<float>(*predicted * 1e3)
                            : std::chrono::duration<float, std::milli>(b.time - a.time).count();
  return cudaSuccess;
}
