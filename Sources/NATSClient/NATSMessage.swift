package import NIOCore

/// A message as it arrived. It shares the bytes of the network's buffer; nothing is copied until it is asked for.
package struct NATSMessage: Sendable {
    /// The control line, the headers, the payload.
    let bytes: ByteBuffer
    let line: NATSMessageLine

    package var subject: String { String(buffer: slice(line.subject)) }
    package var subjectBytes: ByteBufferView { slice(line.subject).readableBytesView }
    /// The subject to answer to.
    package var reply: String? { line.reply.map { String(buffer: slice($0)) } }
    package var replyBytes: ByteBufferView? { line.reply.map { slice($0).readableBytesView } }
    package var payload: ByteBuffer { slice(line.payload) }

    /// The number in the first line of the headers: 100 for what JetStream says about a consumer, 503 for a request
    /// that nobody answers.
    package var status: Int? {
        guard !line.headers.isEmpty, let first = headerLines.first else { return nil }
        return first.split(separator: UInt8(ascii: " ")).dropFirst().first.flatMap(decimal).map(
            Int.init(truncatingIfNeeded:))
    }

    /// The first value of a header, whose name is compared exactly.
    package func header(_ name: String) -> String? {
        let start = Array("\(name):".utf8)
        let line = headerLines.dropFirst().first { $0.starts(with: start) }
        return line.map { String(decoding: $0.dropFirst(start.count).drop { $0 == UInt8(ascii: " ") }, as: UTF8.self) }
    }

    private var headerLines: [ByteBufferView] {
        slice(line.headers).readableBytesView.split { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
    }

    private func slice(_ range: Range<Int>) -> ByteBuffer {
        // The parser has checked that the ranges are inside.
        bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
    }
}

/// The number that decimal digits say; nil if there is another character, or none, or if it does not fit.
func decimal(_ digits: some Collection<UInt8>) -> UInt64? {
    var number: UInt64 = 0
    for digit in digits {
        let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
        let (sum, isLarger) = tens.addingReportingOverflow(UInt64(digit &- UInt8(ascii: "0")))
        guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9"), !isTooLarge, !isLarger else { return nil }
        number = sum
    }
    return digits.isEmpty ? nil : number
}
