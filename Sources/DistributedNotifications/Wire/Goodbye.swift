/// The reason that the server gives when it ends a connection.
package struct Goodbye {
    package var reason: GoodbyeReason
    package var text: String

    package init(_ reader: inout WireReader) throws(WireError) {
        let wireReason = try reader.integer(UInt8.self)
        guard let reason = GoodbyeReason(rawValue: wireReason) else { throw .unknown("reason to end", wireReason) }
        self.reason = reason
        text = try reader.string(limit: Wire.frameLimit)
    }
}
