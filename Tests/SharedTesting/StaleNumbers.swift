internal import CLinux
internal import Glibc
internal import XCTest

/// Sets that list numbers of descriptors that are free: the files are still open under other numbers. Each number is
/// beside the number of a set.
package final class StaleNumbers: Sendable {
    private let sets: [Int32]
    private let copies: [Int32]

    package init(_ count: Int) throws {
        let pairs = (0..<count).map { _ in (file: eventfd(0, Int32(EFD_NONBLOCK)), set: epoll_create1(0)) }
        let files = pairs.map(\.file)
        sets = pairs.map(\.set)
        // Far away from the numbers of the sets.
        copies = files.map { fcntl($0, F_DUPFD, 300) }
        for set in sets {
            for file in files { XCTAssertEqual(CLinuxWatch(set, EPOLL_CTL_ADD, file, EPOLLIN.rawValue, 0), 0) }
        }
        for file in files { close(file) }
        try XCTSkipIf(copies.contains(-1), "the limit of open descriptors is too low")
    }

    deinit {
        for descriptor in copies + sets { close(descriptor) }
    }

    package func makeReady() {
        for copy in copies { eventfd_write(copy, 1) }
    }

    package func makeUnready() {
        var value: eventfd_t = 0
        for copy in copies { eventfd_read(copy, &value) }
    }
}
