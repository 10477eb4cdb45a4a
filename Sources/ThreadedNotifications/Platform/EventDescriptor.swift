internal import CLinux
internal import Glibc

/// A descriptor that is made readable, and stays so until it is cleared: an `eventfd`.
package final class EventDescriptor: Sendable {
    package let number: Int32

    /// - Returns: nil if the system has no descriptor left.
    package init?() {
        number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        if number < 0 { return nil }
    }

    deinit {
        // A failed close would change the cause of the failure, which is in errno.
        if number >= 0 { close(number) }
    }

    /// Makes the descriptor readable. A second call has no effect.
    package func makeReady() {
        eventfd_write(number, 1)
    }

    /// Makes the descriptor unreadable.
    package func clear() {
        var count: eventfd_t = 0
        eventfd_read(number, &count)
    }
}
