internal import CControl
internal import Glibc

/// The baseline of `BurstSubject` in C: an array under a futex lock, and an eventfd.
final class ControlBurst: BenchmarkSubject {
    private let burst: OpaquePointer
    private let timeout: Duration

    init(posters: Int, targets: Int = 1, _ conditions: BenchmarkConditions) throws(BenchmarkError) {
        guard
            let burst = CControlBurstCreate(
                Int32(posters), Int32(targets), Int32(conditions.postingCore ?? -1), Int32(conditions.targetCore ?? -1))
        else { throw .notMade("the control's threads", code: errno) }
        self.burst = burst
        timeout = conditions.timeout
    }

    func measure(_ operations: Int) throws -> Sample {
        let elapsed = CControlBurstMeasure(burst, Int64(operations), Int64(timeout / .nanoseconds(1)))
        return Sample(operations: operations, total: try ControlTime.nanoseconds(elapsed, timeout: timeout))
    }

    func end() {
        CControlBurstDestroy(burst)
    }
}
