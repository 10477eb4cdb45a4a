internal import CLinux
internal import Glibc

/// Waits until one of many descriptors can be read or written, with epoll.
package final class EventPoll {
    private let descriptor: Int32
    private var events = [UInt32](repeating: 0, count: 256)
    private var numbers = [UInt64](repeating: 0, count: 256)

    /// - Returns: nil if the system has no descriptor left.
    package init?() {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    package struct Event {
        /// The number with which the descriptor is watched.
        package var number: UInt64
        package var isReadable: Bool
        package var isWritable: Bool
    }

    /// - Returns: 0, or an error number.
    package func watch(
        _ watched: Int32, as number: UInt64, reading: Bool = true, writing: Bool = false, isNew: Bool = false
    ) -> Int32 {
        let events = (reading ? EPOLLIN.rawValue : 0) | (writing ? EPOLLOUT.rawValue : 0)
        return CLinuxWatch(descriptor, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, watched, events, number)
    }

    package func unwatch(_ watched: Int32) { _ = CLinuxWatch(descriptor, EPOLL_CTL_DEL, watched, 0, 0) }

    /// Waits for at most `milliseconds`, or without a timeout if that is -1.
    /// - Returns: the number of events.
    package func wait(milliseconds: Int32) -> Int {
        max(Int(CLinuxWaitForEvents(descriptor, &events, &numbers, Int32(events.count), milliseconds)), 0)
    }

    package subscript(index: Int) -> Event {
        let found = events[index]
        // Reading a connection that has hung up returns the reason.
        let isOver = found & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        return Event(
            number: numbers[index], isReadable: isOver || found & EPOLLIN.rawValue != 0,
            isWritable: isOver || found & EPOLLOUT.rawValue != 0)
    }
}
