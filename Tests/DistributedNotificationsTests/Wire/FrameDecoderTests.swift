import Foundation
import SharedTesting
import XCTest

@testable import DistributedNotifications

final class FrameDecoderTests: XCTestCase {
    private struct Frames: Equatable {
        var frames: [[UInt8]] = []
        var error: WireError?
    }

    /// Gives the bytes to a decoder in parts of these sizes, again and again, and takes its frames.
    private static func frames(of bytes: [UInt8], _ sizes: [Int], capacity: Int) throws -> Frames {
        let decoder = FrameDecoder(capacity: capacity)
        var (result, offset, turn) = (Frames(), 0, 0)
        while offset < bytes.count {
            let space = decoder.space()
            let count = min(space.count, sizes[turn % sizes.count], bytes.count - offset)
            // A decoder without space would be read into for ever.
            try require(count > 0)
            space.copyBytes(from: bytes[offset..<offset + count])
            decoder.received(count)
            (offset, turn) = (offset + count, turn + 1)
            do throws(WireError) {
                var hasFrame = decoder.hasFrame
                while let frame = try decoder.next() {
                    XCTAssertTrue(hasFrame)
                    result.frames.append([frame.kind] + frame.payload)
                    hasFrame = decoder.hasFrame
                }
                XCTAssertFalse(hasFrame)
            } catch {
                result.error = error
                return result
            }
            if turn % 3 == 0 { decoder.release() }
        }
        return result
    }

    /// By the definition of a frame, without anything that could go wrong.
    private static func expected(_ bytes: [UInt8]) -> Frames {
        var (result, rest) = (Frames(), bytes[...])
        while rest.count >= 4 {
            let length = rest.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard (1...65_536).contains(length) else {
                result.error = .frameLength(length)
                break
            }
            guard rest.count >= 4 + Int(length) else { break }
            result.frames.append(Array(rest.dropFirst(4).prefix(Int(length))))
            rest = rest.dropFirst(4 + Int(length))
        }
        return result
    }

    private static func bytes(_ counts: [Int]) -> [UInt8] {
        var writer = FrameWriter()
        for count in counts {
            writer.frame(.post) { $0.append((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }) }
        }
        return writer.bytes
    }

    func testTheLargestFrameFitsWhateverComesBeforeIt() throws {
        let largest = Wire.frameLimit - 1
        for before in [0, 1, 3, 60_000, largest] {
            let bytes = Self.bytes([before, largest, largest, 0])
            for (sizes, capacity) in [([bytes.count], 65_540), ([4096, 1, 65_539], 65_540), ([50_000], 256 << 10)] {
                XCTAssertEqual(try Self.frames(of: bytes, sizes, capacity: capacity), Self.expected(bytes))
            }
        }
    }

    func testALengthThatNoFrameHasIsRefusedBeforeItsBytesCome() throws {
        for length in [UInt32(0), 65_537, 1 << 24, 1 << 31, .max] {
            let bytes = Self.bytes([0]) + withUnsafeBytes(of: length.littleEndian) { Array($0) }
            let frames = try Self.frames(of: bytes, [1], capacity: 65_540)
            XCTAssertEqual(frames, Frames(frames: [[FrameKind.post.rawValue]], error: .frameLength(length)))
        }
    }

    /// A million with `STRESS=1`.
    func testAnyBytesAreDividedAsTheDefinitionSays() throws {
        var random = SeededGenerator(seed: 7)
        var (frames, errors) = (0, 0)
        for _ in 0..<FaultRounds.inputs {
            var bytes = Self.bytes(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    random.once(in: 500) ? 65_535 : Int.random(in: 0...40, using: &random)
                })
            for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
                let index = Int.random(in: 0..<min(bytes.count, 200), using: &random)
                // Mostly a small change, which keeps a length possible.
                bytes[index] = random.once(in: 2) ? UInt8.random(in: 0...255, using: &random) : bytes[index] ^ 1
            }
            let sizes = bytes.count > 1000 ? [30_000] : (0..<3).map { _ in Int.random(in: 1...100, using: &random) }
            let result = try Self.frames(of: bytes, sizes, capacity: 65_540)
            try require(result == Self.expected(bytes), "\(bytes.prefix(300)) in \(sizes)")
            (frames, errors) = (frames + result.frames.count, errors + (result.error == nil ? 0 : 1))
        }
        XCTAssertTrue(frames > FaultRounds.inputs / 2 && errors > FaultRounds.inputs / 20)
    }
}
