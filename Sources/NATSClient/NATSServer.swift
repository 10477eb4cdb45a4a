/// The address of a NATS server, as users write it: `nats://host:4222`, or `tls://host:4222` to require TLS.
package struct NATSServer: Hashable, Sendable, CustomStringConvertible {
    package let host: String
    package let port: Int
    package let requiresTLS: Bool

    package init(_ url: String) throws(NATSError) {
        // It may contain a password, which no error repeats.
        guard !url.contains("@") else {
            throw NATSError(
                .notUsable,
                "The address of a NATS server contains a user. A password does not belong on a command line: write "
                    + "user:password into a file, and give it with --credentials.")
        }
        let scheme = ["nats://", "tls://"].first { url.hasPrefix($0) } ?? ""
        var address = url.dropFirst(scheme.count)
        // An IPv6 address is in brackets.
        let bracket = address.hasPrefix("[") ? address.firstIndex(of: "]") : nil
        let end = bracket.map(address.index(after:)) ?? address.firstIndex(of: ":") ?? address.endIndex
        let rest = address[end...]
        address = bracket.map { address[..<$0].dropFirst() } ?? address[..<end]
        let isHost = address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
        let port = rest.isEmpty ? 4222 : rest.first == ":" ? decimal(rest.dropFirst().utf8) : nil
        guard !scheme.isEmpty, !address.isEmpty, isHost, let port, 1...65535 ~= port else {
            throw NATSError(
                .notUsable,
                "\(NATSError.quoted(url.utf8)) is no NATS server. Give nats://HOST:PORT, or tls://HOST:PORT to require TLS."
            )
        }
        (host, self.port, requiresTLS) = (String(address), Int(port), scheme == "tls://")
    }

    package var description: String {
        "\(requiresTLS ? "tls" : "nats")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
