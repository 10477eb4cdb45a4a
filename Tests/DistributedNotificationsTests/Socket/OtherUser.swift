import CLinux
import Foundation
import Glibc
import Testing

/// What a test does as another user, which only root may.
enum OtherUser {
    /// nobody's.
    static let number: UInt32 = 65534
    static let condition: Comment = "only root can be another user"
    static var isPossible: Bool { geteuid() == 0 }

    /// Calls `body` on a thread of its own that is nobody's, and not root's.
    static func perform<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
        let done = DispatchSemaphore(value: 0)
        let result = Result<Value>()
        Thread.detachNewThread {
            if CLinuxActAs(number) { result.value = body() }
            done.signal()
        }
        return done.wait(timeout: .now() + TestLimit.seconds) == .success ? result.value : nil
    }

    // Safety: written before the semaphore is signalled, and read after.
    private final class Result<Value>: @unchecked Sendable {
        var value: Value?
    }
}
