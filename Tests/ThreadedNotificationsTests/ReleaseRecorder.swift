/// Calls a block when it is deallocated.
final class ReleaseRecorder: Sendable {
    private let whenReleased: @Sendable () -> Void

    init(_ whenReleased: @escaping @Sendable () -> Void) {
        self.whenReleased = whenReleased
    }

    deinit { whenReleased() }
}
