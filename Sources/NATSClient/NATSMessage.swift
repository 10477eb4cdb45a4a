package import NIOCore

/// A message as it arrived. Its parts share the bytes of the network's buffer.
package struct NATSMessage: Sendable {
    let subscription: Int
    package let subject: ByteBufferView
    /// The subject to answer to.
    let reply: ByteBufferView?
    let headers: ByteBuffer
    package let payload: ByteBuffer

    /// 100 for a consumer's heartbeats and flow control, 503 if a message with a reply subject had no receiver.
    var status: Substring? { lines.first?.split(separator: " ").dropFirst().first }

    func header(_ name: String) -> String? {
        lines.first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    /// The first is `NATS/1.0`, perhaps with a status.
    private var lines: [Substring] {
        headers.readableBytes == 0 ? [] : String(buffer: headers).split(whereSeparator: \.isNewline)
    }
}

/// The number that decimal digits say; nil if there is another character. Nothing that is counted needs 19 digits.
func decimal(_ digits: some Collection<UInt8>) -> Int? {
    guard 1...18 ~= digits.count, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
}
