/// Calls a block when it is deallocated.
package final class ReleaseRecorder: Sendable {
    private let whenReleased: @Sendable () -> Void

    package init(_ whenReleased: @escaping @Sendable () -> Void) {
        self.whenReleased = whenReleased
    }

    deinit { whenReleased() }
}
