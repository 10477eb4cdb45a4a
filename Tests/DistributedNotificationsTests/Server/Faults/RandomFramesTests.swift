import Foundation
import SharedTesting
import XCTest

@testable import DistributedNotifications

final class RandomFramesTests: XCTestCase {
    /// Frames that a client may write, or that are near to these.
    private static func frames(_ random: inout SeededGenerator) -> [UInt8] {
        var writer = FrameWriter()
        let number = UInt32.random(in: 0..<40, using: &random)
        let name = ["a", "b", "fuzz", String(repeating: "x", count: 255)].randomElement(using: &random)!
        let object = random.once(in: 2) ? "object" : nil
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1:
            let behavior = SuspensionBehavior.allCases.randomElement(using: &random)!
            writer.register(number, name: random.once(in: 3) ? nil : name, object: object, behavior: behavior)
        case 2: writer.frame(.unregister) { $0.integer(number) }
        case 3: writer.frame(.suspension) { $0.integer(UInt8.random(in: 0...1, using: &random)) }
        case 4: writer.frame(.synchronize) { $0.integer(UInt64(number)) }
        case 5 where random.once(in: 5): writer.frame(.status)
        case 6 where random.once(in: 20): writer.frame(.farewell)
        default:
            let byteCount = Int.random(in: 8...(random.once(in: 50) ? 60_000 : 100), using: &random)
            writer.append(
                RawPeer.post(name, object, number: 7, byteCount: byteCount, immediately: random.once(in: 2)))
        }
        var bytes = writer.bytes
        guard random.once(in: 10) else { return bytes }
        // The length mostly stays, so that what follows is still read as frames.
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let index = Int.random(in: (random.once(in: 10) ? 0 : 4)..<bytes.count, using: &random)
            bytes[index] = UInt8.random(in: 0...255, using: &random)
        }
        return bytes
    }

    /// A million frames with `STRESS=1`.
    func testRandomFramesDoNotHarmTheServerOrOtherClients() throws {
        let temporary = try TemporaryDirectory()
        let server = try temporary.startServer()
        let healthy = try RawPeer(temporary.directory, name: "healthy", observing: "healthy")
        var random = SeededGenerator(seed: 77)
        var (largest, refused, peers) = (0, 0, [RawPeer]())
        for frames in 0..<FaultRounds.inputs {
            if peers.count < 8 { peers.append(try RawPeer(temporary.directory, suspended: random.once(in: 2))) }
            let index = Int.random(in: 0..<peers.count, using: &random)
            do {
                // Most never read, and some end within a frame.
                _ = try peers[index].offer(Self.frames(&random)[...])
                if random.once(in: 200) { peers.remove(at: index) }
            } catch {
                if (try? peers[index].farewell()) != nil { refused += 1 }
                peers.remove(at: index)
            }
            guard random.once(in: 50) else { continue }
            try healthy.write(RawPeer.post("healthy", number: frames))
            XCTAssertEqual(try healthy.delivered().number, frames)
            largest = max(largest, server.residentBytes)
        }
        peers = []
        XCTAssertGreaterThan(refused, 20)
        XCTAssertLessThan(largest, 64 << 20)
        XCTAssertTrue(try eventually { try temporary.status().clients.map(\.name) == ["healthy"] })
        XCTAssertEqual(try temporary.status().heldBytes, 0)
        XCTAssertEqual(try temporary.client("healthy").observers.count, 1)
    }
}
