internal import FoundationEssentials

/// The address of a NATS server, as users write it: `nats://host:4222`, or `tls://host:4222` to require TLS.
package struct NATSServer: Sendable, CustomStringConvertible {
    package let description: String
    let host: String
    let port: Int
    let requiresTLS: Bool

    package init(_ url: String) throws(NATSError) {
        let remedy = "Give nats://HOST:PORT, or tls://HOST:PORT to require TLS"
        // It may contain a password, which no error repeats.
        guard !url.contains("@") else {
            throw NATSError(
                "The address of a NATS server contains a user. \(remedy), and a file with the password: --credentials.")
        }
        let parts = URLComponents(string: url)
        guard let parts, let scheme = parts.scheme, ["nats", "tls"].contains(scheme), let host = parts.host,
            !host.isEmpty, host.utf8.allSatisfy({ 0x21..<0x7F ~= $0 }), case let port = parts.port ?? 4222,
            1...65535 ~= port, parts.path.isEmpty, parts.query == nil, parts.fragment == nil
        else { throw NATSError("\(NATSError.quoted(url.utf8)) is no NATS server. \(remedy).") }
        // An IPv6 address is in brackets.
        self.host = String(host.drop { $0 == "[" }.prefix { $0 != "]" })
        (self.port, requiresTLS, description) = (port, scheme == "tls", "\(scheme)://\(host):\(port)")
    }
}
