internal import CLinux
internal import Foundation
internal import Glibc

/// Runs code of a test as another user; requires root.
package enum OtherUser {
    /// The user ID that has no rights.
    package static let number: UInt32 = 65534
    package static let condition = "only root can be another user"
    package static var isPossible: Bool { geteuid() == 0 }

    /// Calls `body` on a new thread with the effective user `number`.
    package static func perform<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
        let done = DispatchSemaphore(value: 0)
        let result = Result<Value>()
        Thread.detachNewThread {
            if CLinuxActAs(number) { result.value = body() }
            done.signal()
        }
        return done.wait(timeout: .now() + TestTimeout.seconds) == .success ? result.value : nil
    }

    // Safety: one thread writes it before it signals the semaphore, and the other reads it after.
    private final class Result<Value>: @unchecked Sendable {
        package var value: Value?
    }
}
