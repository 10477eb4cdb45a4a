import DistributedTesting
import Foundation
import Glibc
import Testing
import ThreadedNotifications

@testable import DistributedNotifications

/// A link whose other end reads only when it is told to.
struct LinkTests {
    private let link: Link
    private let other: LocalSocket

    init() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        link = Link(LocalSocket(owning: ends[0]), serverProcess: 1)
        other = LocalSocket(owning: ends[1])
    }

    private static func post(_ number: Int, byteCount: Int = 8) -> [UInt8] {
        let frame = RawPeer.post("n", number: number)
        guard byteCount > 8 else { return frame }
        var writer = FrameWriter()
        writer.frame(.post) {
            $0.append(frame.dropFirst(5).dropLast(8))
            $0.append([UInt8](repeating: 0, count: byteCount - 8))
            $0.append(frame.suffix(8))
        }
        return writer.bytes
    }

    /// Posts until the socket takes no more of whole frames.
    /// - Returns: how many.
    private func fill() -> Int {
        var posted = 0
        // Small ones: a large frame that is cut off ends the connection.
        while case .written = link.write(Self.post(posted), until: .now) { posted += 1 }
        return posted
    }

    /// The kinds of all frames that the other end finds.
    private func read() throws -> [FrameKind?] {
        var decoder = FrameDecoder(capacity: 256 << 10)
        var kinds: [FrameKind?] = []
        while true {
            let space = decoder.space()
            let count = recv(other.descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { break }
            decoder.received(count)
            while let frame = try decoder.next() { kinds.append(FrameKind(rawValue: frame.kind)) }
        }
        let isWhole = decoder.isEmpty
        #expect(isWhole)
        return kinds
    }

    private func connection() throws -> CenterConnection {
        let place = ServerPlace(directory: "/nonexistent/place")
        var limits = ClientLimits()
        limits.postLimit = .seconds(3600)
        let connection = try #require(CenterConnection(place: place, limits: limits))
        let isConnected = connection.state.withLock { state in
            // As if there were a reader.
            _ = state.start()
            return state.connected(link, saidSuspended: false)
        }
        #expect(isConnected)
        return connection
    }

    private static func observed() -> CenterState.Observed {
        let token = ThreadedNotificationCenter().addObserver(forName: nil, on: .postingThread) { _ in }
        return CenterState.Observed(token: token, name: "n", object: nil, behavior: .hold)
    }

    /// If one of them waited, it would for an hour.
    @Test func whatTheServerIsToldWaitsForRoomAndTheCallerDoesNot() throws {
        let connection = try connection()
        let told = try connection.state.withLock { state throws(DistributedError) in
            try state.add(Self.observed(), limit: 10)
        }
        connection.tell()
        #expect(try read() == [.register])
        let posted = fill()
        #expect(!link.isBlocked)
        connection.unregister(told)
        let added = try connection.state.withLock { state throws(DistributedError) in
            try state.add(Self.observed(), limit: 10)
        }
        connection.tell()
        connection.setSuspended(true)
        #expect(link.isBlocked)
        // The reader is to write it.
        var wake = pollfd(fd: connection.wake.number, events: Int16(POLLIN), revents: 0)
        #expect(poll(&wake, 1, 0) == 1)
        #expect(try read() == Array(repeating: .post, count: posted))
        #expect(!connection.flush(link))
        #expect(try read() == [.unregister, .register, .suspension])
        #expect(!link.isBlocked)
        connection.unregister(added)
        #expect(try read() == [.unregister])
    }

    @Test func whatWaitsIsWrittenBeforeAPost() throws {
        let connection = try connection()
        let posted = fill()
        connection.setSuspended(true)
        #expect(try read() == Array(repeating: .post, count: posted))
        try connection.write(Self.post(0), name: "n")
        #expect(try read() == [.suspension, .post])
    }

    @Test func aPostThatIsLateCostsNoConnectionIfNothingOfItWasWritten() throws {
        let connection = try connection()
        let posted = fill()
        connection.setSuspended(true)
        guard case .late = link.write(Self.post(0), until: .now) else {
            Issue.record("it is not late")
            return
        }
        #expect(try read() == Array(repeating: .post, count: posted))
        #expect(!connection.flush(link))
        #expect(try read() == [.suspension])
    }

    @Test func framesOfManyThreadsAreWholeThoughTheSocketTakesThemInParts() throws {
        let link = link
        let threads = 4
        let each = 25
        let frames = (0..<threads * each).map { Self.post($0, byteCount: 60_000) }
        let outcomes = Locked(0)
        let done = DispatchSemaphore(value: 0)
        for thread in 0..<threads {
            Thread.detachNewThread {
                for number in 0..<each {
                    if case .written = link.write(frames[thread * each + number], until: .now + .seconds(60)) {
                        outcomes.withLock { $0 += 1 }
                    }
                }
                done.signal()
            }
        }
        var decoder = FrameDecoder(capacity: 256 << 10)
        var last = Array(repeating: -1, count: threads)
        var count = 0
        while count < threads * each {
            var descriptor = pollfd(fd: other.descriptor, events: Int16(POLLIN), revents: 0)
            try #require(poll(&descriptor, 1, 60_000) == 1)
            // Less than a frame at a time.
            let space = decoder.space()
            let received = recv(other.descriptor, space.baseAddress, min(space.count, 10_000), 0)
            try #require(received > 0)
            decoder.received(received)
            while let frame = try decoder.next() {
                try #require(frame.kind == FrameKind.post.rawValue)
                let number = Int(frame.payload.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) })
                #expect(number > last[number / each])
                last[number / each] = number
                count += 1
            }
        }
        for _ in 0..<threads { #expect(done.wait(timeout: .now() + 60) == .success) }
        #expect(outcomes.withLock { $0 } == threads * each)
        #expect(!link.isBlocked)
    }
}
