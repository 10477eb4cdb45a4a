internal import CLinux
internal import Glibc

/// A set of descriptors in which a run loop waits. The run loop owns it, one for each of its modes.
package struct EpollSet {
    /// Ready when a descriptor of the set is.
    package let descriptor: Int32

    /// Finds the set that has a descriptor, and that is ready when the descriptor is. No other set may have it.
    ///
    /// Another set may list the number for a file that was closed, and of which a duplicate is open.
    /// Cost: it opens a file of /proc for each descriptor that it tries. Descriptors that are made together have
    /// numbers near each other, so the first or second is usually the one.
    /// - Parameter member: not ready. It is made ready for a moment.
    /// - Returns: nil if no set has it, it is not ready when it should be, or /proc cannot be read.
    package init?(with member: EventDescriptor) {
        let nearest = Self.openDescriptors().sorted { abs($0 - member.number) < abs($1 - member.number) }
        guard let set = nearest.first(where: { Self.has(member.number, in: $0) }) else { return nil }
        descriptor = set
        member.makeReady()
        defer { member.clear() }
        guard wait(milliseconds: 0) else { return nil }
    }

    /// True if a set has the file that is open under this number. If it only lists the number, the file is added for a
    /// moment, without any event to wait for.
    private static func has(_ member: Int32, in set: Int32) -> Bool {
        guard members(of: set).contains(member) else { return false }
        let error = CLinuxWatch(set, EPOLL_CTL_ADD, member, 0, 0)
        if error == 0 { _ = CLinuxWatch(set, EPOLL_CTL_DEL, member, 0, 0) }
        return error == EEXIST
    }

    /// Waits until a descriptor of the set is ready. It may return earlier, as after a signal handler.
    package func wait() {
        _ = wait(milliseconds: -1)
    }

    private func wait(milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, milliseconds) > 0
    }

    private static func openDescriptors() -> [Int32] {
        guard let directory = opendir("/proc/self/fd") else { return [] }
        defer { closedir(directory) }
        var numbers: [Int32] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let number = Int32(name) { numbers.append(number) }
        }
        return numbers
    }

    /// The descriptors of a set, which /proc lists in lines that begin with `tfd:` and a number; none if it is no set.
    private static func members(of candidate: Int32) -> [Int32] {
        let file = open("/proc/self/fdinfo/\(candidate)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1024)
        while case let count = read(file, &part, part.count), count > 0 { text += part[..<count] }
        return text.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let words = line.split(separator: UInt8(ascii: " "))
            guard words.count > 1, words[0].elementsEqual("tfd:".utf8) else { return nil }
            return Int32(String(decoding: words[1], as: UTF8.self))
        }
    }
}
