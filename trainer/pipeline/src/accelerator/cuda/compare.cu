// Are the first `len` elements of two buffers equal? If not, and if `record` has no difference yet, it becomes
// 1, iteration, the lowest index at which they differ, and the element found there. len is less than 2^31.
//
// One block of 1,024 threads, whatever the length. Only within a block can all threads wait for the lowest index before one
// of them writes it: with more blocks that takes a second launch, or a counter that somebody has to clear. A buffer has about
// 200,000 elements, so a block reads 1.6 MB. Eight loads of each thread are under way at a time, which makes 25 rounds of one
// memory latency, or some 20 microseconds (calculated, not measured) on one of the GPU's multiprocessors; a grid on all of
// them would take a few. Comparing is no part of what is measured.
extern "C" __global__ void __launch_bounds__(1024)
compare(const int *found, const int *expected, unsigned int len, int *record, int iteration)
{
    __shared__ unsigned int lowest;
    if (threadIdx.x == 0) {
        lowest = len;
    }
    __syncthreads();
    unsigned int mine = len;
    // No thread leaves early: a load that waits for the outcome of the last comparison does not overlap with it.
#pragma unroll 8
    for (unsigned int i = threadIdx.x; i < len; i += blockDim.x) {
        mine = found[i] != expected[i] && i < mine ? i : mine;
    }
    if (mine < len) {
        atomicMin(&lowest, mine);
    }
    __syncthreads();
    if (threadIdx.x == 0 && lowest < len && record[0] == 0) {
        record[1] = iteration;
        record[2] = (int)lowest;
        record[3] = found[lowest];
        record[0] = 1;
    }
}
