internal import CLinux
internal import Glibc

/// Which of many descriptors can be read or written: epoll.
package final class EventPoll {
    private let descriptor: Int32
    private var events = [UInt32](repeating: 0, count: 256)
    private var numbers = [UInt64](repeating: 0, count: 256)

    /// - Returns: nil if the system has no descriptor left.
    package init?() {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        if descriptor < 0 { return nil }
    }

    deinit {
        close(descriptor)
    }

    package struct Event {
        /// As it was watched.
        package var number: UInt64
        package var isReadable: Bool
        package var isWritable: Bool
    }

    /// - Returns: 0, or an error number.
    package func watch(_ watched: Int32, as number: UInt64, reading: Bool, writing: Bool, isNew: Bool = false) -> Int32
    {
        let events = (reading ? EPOLLIN.rawValue : 0) | (writing ? EPOLLOUT.rawValue : 0)
        return CLinuxWatch(descriptor, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, watched, events, number)
    }

    package func unwatch(_ watched: Int32) {
        _ = CLinuxWatch(descriptor, EPOLL_CTL_DEL, watched, 0, 0)
    }

    /// Waits, `milliseconds` at most (-1: for ever).
    /// - Returns: how many events there are.
    package func wait(milliseconds: Int32) -> Int {
        max(Int(CLinuxWaitForEvents(descriptor, &events, &numbers, Int32(events.count), milliseconds)), 0)
    }

    package subscript(index: Int) -> Event {
        let found = events[index]
        // What has hung up is read, which tells how.
        let isOver = found & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        return Event(
            number: numbers[index], isReadable: isOver || found & EPOLLIN.rawValue != 0,
            isWritable: isOver || found & EPOLLOUT.rawValue != 0)
    }
}
