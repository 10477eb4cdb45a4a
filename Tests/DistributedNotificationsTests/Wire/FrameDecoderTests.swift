import Foundation
import SharedTesting
import XCTest

@testable import DistributedNotifications

final class FrameDecoderTests: XCTestCase {
    struct Whole: Hashable {
        var kind: UInt8
        var payload: [UInt8]
    }

    private struct Cut: Equatable {
        var frames: [Whole] = []
        var error: WireError?
    }

    /// Gives the bytes to a decoder in parts of these sizes, again and again, and takes what it cuts.
    private static func cut(_ bytes: [UInt8], _ sizes: [Int], capacity: Int? = nil) -> Cut {
        let decoder = capacity.map { FrameDecoder(capacity: $0) } ?? FrameDecoder()
        var result = Cut()
        var offset = 0
        var turn = 0
        while offset < bytes.count {
            let space = decoder.space()
            let count = min(space.count, sizes[turn % sizes.count], bytes.count - offset)
            // A decoder without space would be read into for ever.
            guard count > 0 else { return result }
            space.copyBytes(from: bytes[offset..<offset + count])
            decoder.received(count)
            offset += count
            turn += 1
            do throws(WireError) {
                while true {
                    let says = decoder.hasFrame
                    guard let frame = try decoder.next() else {
                        if says { result.frames.append(Whole(kind: 0, payload: Array("hasFrame".utf8))) }
                        break
                    }
                    if !says { result.frames.append(Whole(kind: 0, payload: Array("no hasFrame".utf8))) }
                    result.frames.append(Whole(kind: frame.kind, payload: Array(frame.payload)))
                }
            } catch {
                result.error = error
                return result
            }
            if turn % 3 == 0 { decoder.release() }
        }
        return result
    }

    /// By the definition of a frame, without anything that could be cut wrongly.
    private static func expected(_ bytes: [UInt8]) -> Cut {
        var result = Cut()
        var rest = bytes[...]
        while rest.count >= 4 {
            let length = rest.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard (1...65_536).contains(length) else {
                result.error = .frameLength(length)
                break
            }
            guard rest.count >= 4 + Int(length) else { break }
            let body = rest.dropFirst(4).prefix(Int(length))
            result.frames.append(Whole(kind: body.first ?? 0, payload: Array(body.dropFirst())))
            rest = rest.dropFirst(4 + Int(length))
        }
        return result
    }

    private static func bytes(_ frames: [(FrameKind, Int)]) -> [UInt8] {
        var writer = FrameWriter()
        for (kind, count) in frames {
            writer.frame(kind) { $0.append((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }) }
        }
        return writer.bytes
    }

    func testTheLargestFrameFitsWhateverComesBeforeIt() {
        let largest = Wire.frameLimit - 1
        for before in [0, 1, 3, 60_000, largest] {
            let bytes = Self.bytes([(.post, before), (.post, largest), (.post, largest), (.farewell, 0)])
            XCTAssertEqual(Self.cut(bytes, [bytes.count]), Self.expected(bytes))
            XCTAssertEqual(Self.cut(bytes, [4096, 1, 65_539]), Self.expected(bytes))
            XCTAssertEqual(Self.cut(bytes, [50_000], capacity: 256 << 10), Self.expected(bytes))
        }
    }

    func testALengthThatNoFrameHasIsRefusedBeforeItsBytesCome() {
        for length in [UInt32(0), 65_537, 1 << 24, 1 << 31, .max] {
            let good = Self.bytes([(.status, 0)])
            let bad = withUnsafeBytes(of: length.littleEndian) { Array($0) }
            let result = Self.cut(good + bad, [1])
            XCTAssertEqual(result.frames, [Whole(kind: FrameKind.status.rawValue, payload: [])])
            XCTAssertEqual(result.error, .frameLength(length))
        }
    }

    /// A million with `STRESS=1`.
    func testAnyBytesAreCutAsTheDefinitionSays() {
        var random = SeededGenerator(seed: 7)
        var frames = 0
        var errors = 0
        for round in 0..<FaultRounds.inputs {
            var bytes = Self.bytes(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    (.post, random.once(in: 500) ? 65_535 : Int.random(in: 0...40, using: &random))
                })
            for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
                let directory = Int.random(in: 0..<min(bytes.count, 200), using: &random)
                // Mostly a small change, which keeps a length possible.
                bytes[directory] = random.once(in: 2) ? UInt8.random(in: 0...255, using: &random) : bytes[directory] ^ 1
            }
            let sizes = (0..<3).map { _ in Int.random(in: 1...100, using: &random) }
            let result = Self.cut(bytes, bytes.count > 1000 ? [30_000] : sizes)
            let expected = Self.expected(bytes)
            if result != expected {
                XCTFail("round \(round): \(bytes.prefix(300)) in \(sizes)")
                return
            }
            frames += result.frames.count
            errors += result.error == nil ? 0 : 1
        }
        XCTAssertGreaterThan(frames, FaultRounds.inputs / 2)
        XCTAssertGreaterThan(errors, FaultRounds.inputs / 20)
    }
}
