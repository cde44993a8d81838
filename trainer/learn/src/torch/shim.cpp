// What tch lacks of libtorch: tensors that tell when they end, the current stream, deterministic algorithms.
//
// It needs no header and no symbol of CUDA. Streams are set through the guard that a device's library registers when it is
// loaded (c10/core/impl/DeviceGuardImplInterface.h), which for CUDA may be after this program has started, or never.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include <ATen/Context.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace {

c10::Device gpu_number(int number) {
    return {c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(number)};
}

// Calls `f`; what it throws becomes a text of less than `room` bytes, and 1 is returned.
template <typename F>
int guarded(char *message, size_t room, F f) noexcept {
    try {
        f();
        return 0;
    } catch (const c10::Error &error) {
        std::snprintf(message, room, "%s", error.what_without_backtrace());
    } catch (const std::exception &error) {
        std::snprintf(message, room, "%s", error.what());
    } catch (...) {
        std::snprintf(message, room, "an unknown error");
    }
    return 1;
}

}  // namespace

extern "C" {

// A tensor over `len` elements at `data`, float32 or else int32, in the memory of a GPU, or of the host if `gpu` is negative.
// `ended(context)` is called once nothing of libtorch's refers to them any more, also if there is no tensor.
int trisage_lend(void *data, int64_t len, int floats, int gpu, void (*ended)(void *), void *context, at::Tensor **tensor,
                 char *message, size_t room) {
    return guarded(message, room, [&] {
        at::TensorMaker maker = at::for_blob(data, {len});
        maker.context(context, ended);
        const c10::Device device = gpu < 0 ? c10::Device(c10::DeviceType::CPU) : gpu_number(gpu);
        maker.options(at::TensorOptions().dtype(floats ? at::kFloat : at::kInt).device(device)).target_device(device);
        *tensor = new at::Tensor(maker.make_tensor());
    });
}

// Only algorithms that give the same bits each time from now on; what has none throws.
int trisage_deterministic(char *message, size_t room) {
    return guarded(message, room, [] {
        at::Context &context = at::globalContext();
        context.setDeterministicAlgorithms(true, /*warn_only=*/false);
        // Nothing here reads memory that was not written, so it need not be filled.
        context.setDeterministicFillUninitializedMemory(false);
        context.setDeterministicCuDNN(true);
        context.setBenchmarkCuDNN(false);
    });
}

// Makes a CUDA stream that others have made this thread's current one on a GPU; tells the one that was.
int trisage_enter_stream(int gpu, void *stream, int64_t *before, char *message, size_t room) {
    return guarded(message, room, [&] {
        const c10::Device device = gpu_number(gpu);
        const c10::impl::VirtualGuardImpl guard(device.type());
        // As c10::cuda::getStreamFromExternal does: the id of a stream from outside is its address.
        const c10::Stream ours(c10::Stream::UNSAFE, device, reinterpret_cast<c10::StreamId>(stream));
        *before = guard.exchangeStream(ours).id();
        if (guard.getStreamNativeHandle(guard.getStream(device)) != stream) {
            guard.exchangeStream(c10::Stream(c10::Stream::UNSAFE, device, *before));
            throw std::runtime_error("it does not take a stream that others have made");
        }
    });
}

// Goes back to the stream that trisage_enter_stream has told.
int trisage_leave_stream(int gpu, int64_t before, char *message, size_t room) {
    return guarded(message, room, [&] {
        const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
        guard.exchangeStream(c10::Stream(c10::Stream::UNSAFE, gpu_number(gpu), before));
    });
}

}  // extern "C"
