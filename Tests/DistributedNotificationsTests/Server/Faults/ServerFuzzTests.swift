import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// Random frames do not harm a server.
final class ServerFuzzTests: XCTestCase {
    /// A frame that a client may write, or one that is near to that.
    private static func frame(_ random: inout SeededGenerator) -> [UInt8] {
        var writer = FrameWriter()
        let number = UInt32.random(in: 0..<40, using: &random)
        let name = ["a", "b", "fuzz", String(repeating: "x", count: 255)].randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1:
            writer.frame(.register) {
                $0.integer(number)
                $0.integer(UInt8.random(in: 1...4, using: &random))
                let flags = UInt8.random(in: 0...3, using: &random)
                $0.integer(flags)
                if flags & 1 != 0 { $0.string(name) }
                if flags & 2 != 0 { $0.string("object") }
            }
        case 2: writer.frame(.unregister) { $0.integer(number) }
        case 3: writer.frame(.suspension) { $0.integer(UInt8.random(in: 0...1, using: &random)) }
        case 4: writer.frame(.synchronize) { $0.integer(UInt64(number)) }
        case 5 where random.once(in: 5): writer.frame(.status)
        case 6 where random.once(in: 20): writer.frame(.farewell)
        default:
            writer.frame(.post) {
                let flags = UInt8.random(in: 0...7, using: &random)
                $0.integer(flags)
                $0.string(name)
                if flags & 2 != 0 { $0.string("object") }
                if flags & 4 != 0 {
                    let largest = random.once(in: 50) ? 60_000 : 100
                    $0.append(repeatElement(7, count: Int.random(in: 0...largest, using: &random)))
                }
            }
        }
        var bytes = writer.bytes
        guard random.once(in: 10) else { return bytes }
        // The length mostly stays, so that what follows is still read as frames.
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let temporary = Int.random(in: (random.once(in: 10) ? 0 : 4)..<bytes.count, using: &random)
            bytes[temporary] = UInt8.random(in: 0...255, using: &random)
        }
        return bytes
    }

    /// A million frames with `STRESS=1`.
    func testRandomFramesDoNotHarmTheServerOrOtherClients() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        let healthy = try RawPeer(temporary.directory, name: "healthy", observing: "healthy")
        var random = SeededGenerator(seed: 77)
        var frames = 0
        var connections = 0
        var largest = 0
        var refused = 0
        var peers: [RawPeer] = []
        while frames < FaultRounds.inputs {
            if peers.count < 8 {
                peers.append(try RawPeer(temporary.directory, name: "fuzz", suspended: random.once(in: 2)))
                connections += 1
            }
            let index = Int.random(in: 0..<peers.count, using: &random)
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                bytes += Self.frame(&random)
                frames += 1
            }
            if !peers[index].offer(bytes) {
                // The goodbye, if there was one, and then the end.
                while let received = try? peers[index].next() {
                    if case .frame(.goodbye, _) = received { refused += 1 }
                    if received == .end { break }
                }
                peers.remove(at: index)
            } else if random.once(in: 10) {
                // Some never read, and some end within a frame.
                peers[index].readWhatIsThere()
            } else if random.once(in: 60) {
                peers.remove(at: index)
            }
            if connections % 10 == 0 || random.once(in: 50) {
                try healthy.write(RawPeer.post("healthy", number: frames))
                XCTAssertEqual(try healthy.delivered().number, frames)
                largest = max(largest, server.residentBytes)
            }
        }
        peers = []
        XCTAssertFalse(server.isGone)
        XCTAssertGreaterThan(refused, 20)
        XCTAssertLessThan(largest, 64 << 20)
        XCTAssertTrue(try eventually { try temporary.status().clients.map(\.name) == ["healthy"] })
        let status = try temporary.status()
        XCTAssertEqual(status.heldBytes, 0)
        XCTAssertEqual(status.clients.first?.observers.count, 1)
    }
}

extension RawPeer {
    /// Writes as much as there is room for.
    /// - Returns: false if the connection has ended.
    fileprivate func offer(_ bytes: [UInt8]) -> Bool {
        send(socket.descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) >= 0 || errno == EAGAIN
    }

    fileprivate func readWhatIsThere() {
        var bytes = [UInt8](repeating: 0, count: 256 << 10)
        while recv(socket.descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    }
}
