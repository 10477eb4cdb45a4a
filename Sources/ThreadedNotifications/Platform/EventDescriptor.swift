internal import CLinux
internal import Glibc

/// A descriptor that is ready to be read from when it is said to be, until it is read.
package final class EventDescriptor: Sendable {
    package let number: Int32

    /// - Returns: nil if the system has no descriptor left.
    package init?() {
        number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        if number < 0 { return nil }
    }

    deinit {
        close(number)
    }

    /// Saying so twice is saying so once.
    package func makeReady() {
        eventfd_write(number, 1)
    }

    /// Until it is made ready again.
    package func clear() {
        var count: eventfd_t = 0
        eventfd_read(number, &count)
    }
}
