internal import CControl

/// Converts the result of a measurement in C.
enum ControlTime {
    /// - Parameter elapsed: in nanoseconds, or a negative error code.
    static func nanoseconds(_ elapsed: Int64, timeout: Duration) throws(BenchmarkError) -> Double {
        switch Int32(clamping: elapsed) {
        case CCONTROL_TIMED_OUT: throw .timedOut(waitingFor: "the control to handle what was posted", after: timeout)
        case CCONTROL_MISCOUNTED: throw .noFigure("of a control that handled more than was posted")
        case CCONTROL_NOT_MADE: throw .notMade("the control's thread, descriptor or memory", code: 0)
        default: return Double(elapsed)
        }
    }
}
