internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// F20, F21 and F23: how the documents reach other threads and processes. Foundation on Linux lacks some of it; its
/// `SocketPort` and its reader of property lists differ.
extension Question {
    static let communication: [Question] = [
        Question(
            "mach-port", "NSMachPort, and the delegate that handles its messages",
            sentence: "a communication port for signaling the correct thread (a Mach port)", fact: "F20",
            expected: ["there"], ofOurs: ["SignalPort: received on main"]
        ) { trial in
            // The class alone is no evidence: Foundation has one that programs cannot name and that does nothing.
            let hasClass = _typeByName("10Foundation10NSMachPortC") != nil
            trial.note(
                _typeByName("10Foundation18NSMachPortDelegate_p") == nil ? "no delegate" : "there",
                detail: hasClass ? "a class NSMachPort, which is unavailable" : "no class either")
        } ours: { trial in
            let port = trial.add(SignalPort()) { trial.note("SignalPort: received \(thread)") }
            Thread.detachNewThread { port.send(before: Date(), components: nil, from: nil, reserved: 0) }
            trial.runUntilNextEvent()
        },
        Question(
            "perform-on-thread", "performSelector:onThread:",
            sentence: "So how do you call a method on another thread? Well you can’t directly, you have to use:",
            fact: "F20", expected: ["there"], ofOurs: ["RunLoopThread.perform: performed on worker"]
        ) { trial in
            trial.note(_typeByName("10ObjectiveC8SelectorV") == nil ? "missing: there are no selectors" : "there")
        } ours: { trial in
            let worker = RunLoopThread(name: "worker")
            try worker.start()
            let name = try worker.performAndWait(timeout: Trial.timeout) { ThreadIdentity.current.name }
            trial.note("RunLoopThread.perform: performed on \(name ?? "another")")
        },
        Question(
            "distributed-center", "DistributedNotificationCenter",
            sentence:
                "NSDistributedNotificationCenter class manages notifications across multiple processes on a single "
                + "computer.",
            fact: "F20", expected: ["there"], ofOurs: ["DistributedCenter: received on main"]
        ) { trial in
            trial.note(_typeByName("10Foundation29DistributedNotificationCenterC") == nil ? "missing" : "there")
        } ours: { trial in
            // A server of its own, so that the user's server is not affected.
            let directory = FileManager.default.temporaryDirectory.appending(component: "notify-demo-\(getpid())")
                .path(percentEncoded: false)
            let center = try DistributedCenter(directory: ServerDirectory(path: directory))
            defer {
                // The server would end by itself, but only after a minute.
                if case .connected(let server) = center.connectionState { kill(server, SIGTERM) }
                center.close()
                try? FileManager.default.removeItem(atPath: directory)
            }
            let token = try center.addObserver(forName: .test, object: "doctor") { notification in
                let isPosted = notification.userInfo == ["number": 1] && notification.sender == getpid()
                trial.note("DistributedCenter: received \(isPosted ? "" : "something else ")\(thread)")
            }
            try center.synchronize(timeout: Trial.timeout)
            try center.post(name: .test, object: "doctor", userInfo: ["number": 1])
            trial.runUntilNextEvent()
            token.cancel()
        },
        Question(
            "notifications-named", "notifications(named:), an asynchronous sequence", fact: "F20", expected: ["there"],
            ofOurs: ["notifications(named:bufferSize:transform:): read"]
        ) { trial in
            let sequence = NotificationCenter.default.notifications(named: Notification.Name.test)
            trial.note(sequence as Any is MissingSequence ? "missing" : "there")
        } ours: { trial in
            let (center, isRead) = (ThreadedNotificationCenter(), MonotonicSemaphore())
            let numbers = center.notifications(named: .test, transform: { $0.object as? Int })
            Task.detached {
                for await number in numbers where number == 1 { isRead.signal() }
            }
            center.post(name: .test, object: 1)
            try isRead.wait(for: "the reader")
            trial.note("notifications(named:bufferSize:transform:): read")
        },
        Question(
            "port-is-local", "a port cannot be reached from other computers", fact: "F21",
            expected: ["cannot be reached"]
        ) { trial in
            let port = SocketPort()
            note(address: address(of: port.socket)[4..<8].map(String.init).joined(separator: "."), trial)
            port.invalidate()
        } ours: { trial in
            let before = openSockets()
            let port = trial.add(SignalPort()) {}
            note(address: openSockets().subtracting(before).first, trial)
            port.invalidate()
        },
        Question(
            "port-delivers", "the document's signal is received, and a message with content, within a second",
            sentence:
                "The receiving thread’s run loop sends the incoming messages to the handleMachMessage: method of the "
                + "port’s delegate.",
            fact: "F21", expected: ["signal received", "message received"], ofOurs: ["signal received"]
        ) { trial in
            let isReceived = Locked(false)
            let port = trial.add(SocketPort()) { isReceived.withLock { $0 = true } }
            @MainActor func noteWhetherReceived(_ message: String) {
                trial.run(until: { isReceived.withLock { $0 } }, timeout: .milliseconds(500))
                trial.note(isReceived.withLock { $0 } ? "\(message) received" : "no \(message) received")
                isReceived.withLock { $0 = false }
            }
            trial.endProcess(after: .seconds(3), noting: "still blocked")
            _ = port.send(before: Date(), components: nil, from: nil, reserved: 0)
            noteWhetherReceived("signal")
            let number = address(of: port.socket)[2..<4].reduce(0) { $0 << 8 | UInt16($1) }
            let remote = SocketPort(remoteWithTCPPort: number, host: "127.0.0.1")
            _ = remote?.send(
                before: Date(timeIntervalSinceNow: 1),
                components: NSMutableArray(object: NSData(data: Data("content".utf8))), from: port, reserved: 0)
            noteWhetherReceived("message")
        } ours: { trial in
            let port = trial.add(SignalPort()) { trial.note("signal received") }
            Thread.detachNewThread { port.send(before: Date(), components: nil, from: nil, reserved: 0) }
            trial.runUntilNextEvent()
        },
        Question(
            "list-with-a-set", "a list of \(listWithSet.count) bytes with a set in it", sentence: inLists, fact: "F23",
            expected: ["read or refused"], ofOurs: ["PropertyListReader: refused"]
        ) { trial in
            read(listWithSet)
            trial.note("read or refused")
        } ours: { trial in
            refuse(listWithSet, trial)
        },
        Question(
            "list-that-expands", "a list of \(listThatExpands.count) bytes takes less than 10 MB", sentence: inLists,
            fact: "F23", expected: ["takes less"], ofOurs: ["PropertyListReader: refused", "takes less"]
        ) { trial in
            noteMemory(trial) { read(listThatExpands) }
        } ours: { trial in
            noteMemory(trial) { refuse(listThatExpands, trial) }
        },
    ]

    private static var thread: String { Thread.isMainThread ? "on main" : "elsewhere" }

    private static func note(address: String?, _ trial: Trial) {
        let isLocal = address.map { $0.hasPrefix("127.") || !$0.contains(".") } ?? true
        trial.note(
            isLocal ? "cannot be reached" : "can be reached",
            detail: address.map { "listens on \($0)" } ?? "opens no socket")
    }

    /// The bytes of an IPv4 socket's address: the family, the port and the computer's address.
    private static func address(of socket: Int32) -> [UInt8] {
        var (bytes, length) = ([UInt8](repeating: 0, count: 16), socklen_t(16))
        _ = bytes.withUnsafeMutableBytes { buffer in
            buffer.withMemoryRebound(to: sockaddr.self) { getsockname(socket, $0.baseAddress, &length) }
        }
        return bytes
    }

    /// The sockets that are open in this process.
    private static func openSockets() -> Set<String> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return Set(
            names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
                .filter { $0.hasPrefix("socket:") })
    }

    private static let inLists =
        "the optional user-info dictionary can contain only property list objects, such as NSString and NSNumber."

    private static func read(_ list: Data) {
        _ = try? PropertyListSerialization.propertyList(from: list, options: [], format: nil)
    }

    private static func refuse(_ list: Data, _ trial: Trial) {
        do {
            try list.withUnsafeBytes { _ = try PropertyListReader.decode($0) }
            trial.note("PropertyListReader: read")
        } catch {
            trial.note("PropertyListReader: refused", detail: "\(error)")
        }
    }

    private static func noteMemory(_ trial: Trial, of body: () -> Void) {
        let before = peakMemory()
        body()
        let megabytes = (peakMemory() - before) / 1024
        trial.note(megabytes < 10 ? "takes less" : "takes more", detail: "\(megabytes) MB")
    }

    /// An array that contains a set that contains a string.
    private static let listWithSet = binaryList(of: [[0xA1, 1], [0xC1, 2], [0x51, UInt8(ascii: "A")]])

    /// Seven nested arrays, each with 8 references to the next: one string, 2,097,152 times.
    private static let listThatExpands = binaryList(
        of: (1...7).map { [0xA8] + [UInt8](repeating: $0, count: 8) } + [[0x51, UInt8(ascii: "A")]])

    /// A property list in Apple's binary format: the objects, which refer to each other by index; the offset of each;
    /// and a trailer with the sizes of an offset and of a reference, the number of objects, the index of the first, and
    /// the offset of the offsets.
    private static func binaryList(of objects: [[UInt8]]) -> Data {
        let header = Data("bplist00".utf8)
        let offsets = (0...objects.count).map { UInt8(header.count + objects.prefix($0).joined().count) }
        let numbers = [UInt8(objects.count), 0, offsets[objects.count]]
        let trailer: [UInt8] = [0, 0, 0, 0, 0, 0, 1, 1] + numbers.flatMap { [0, 0, 0, 0, 0, 0, 0, $0] as [UInt8] }
        return header + Array(objects.joined()) + offsets.dropLast() + trailer
    }

    /// The peak memory of this process, in kilobytes.
    private static func peakMemory() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}

/// The result of `notifications(named:)` if Foundation lacks that method. If Foundation has it, the compiler prefers
/// Foundation's declaration, because it is less general than the one below.
struct MissingSequence {}

extension NotificationCenter {
    fileprivate func notifications(named name: some Any) -> MissingSequence { MissingSequence() }
}
