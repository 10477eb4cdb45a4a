internal import CLinux
internal import Foundation
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
    package func makeReady() { eventfd_write(number, 1) }

    /// Makes the descriptor unreadable.
    package func clear() {
        var count: eventfd_t = 0
        eventfd_read(number, &count)
    }
}

/// A set of descriptors in which a run loop waits. The run loop owns it, one for each of its modes.
package struct EpollSet {
    /// Ready when a descriptor of the set is.
    package let descriptor: Int32

    /// Finds the set that has a descriptor, and that is ready when the descriptor is. No other set may have it.
    ///
    /// Cost: a system call for each descriptor that it tries. Descriptors that are made together have
    /// numbers near each other, so the first or second is usually the one.
    /// - Parameter member: not ready. It is made ready for a moment.
    /// - Returns: nil if no set has it, it is not ready when it should be, or /proc cannot be read.
    package init?(with member: EventDescriptor) {
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap(Int32.init) ?? []
        let nearest = open.sorted { abs($0 - member.number) < abs($1 - member.number) }
        guard let set = nearest.first(where: { Self.has(member.number, in: $0) }) else { return nil }
        descriptor = set
        member.makeReady()
        defer { member.clear() }
        guard wait(milliseconds: 0) else { return nil }
    }

    /// True if a set has the file that is open under this number.
    private static func has(_ member: Int32, in set: Int32) -> Bool {
        // A set that has it not has it for a moment, without any event to wait for.
        let error = CLinuxWatch(set, EPOLL_CTL_ADD, member, 0, 0)
        if error == 0 { _ = CLinuxWatch(set, EPOLL_CTL_DEL, member, 0, 0) }
        return error == EEXIST
    }

    /// Waits until a descriptor of the set is ready. It may return earlier, as after a signal handler.
    /// - Parameter milliseconds: the timeout; -1: none.
    @discardableResult
    package func wait(milliseconds: Int32 = -1) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, milliseconds) > 0
    }
}
