internal import FoundationEssentials

/// How to connect to a NATS server.
package struct NATSOptions: Sendable {
    /// What NATS shows for this client.
    package var name: String
    package var credentials: NATSCredentials?
    /// Requires TLS. A server that requires it gets it without this.
    package var requiresTLS = false
    /// A PEM file of the certificates to trust instead of the system's. Requires TLS.
    package var trustedRoots: String?
    /// For all from the resolution of the name to the server's consent.
    package var connectTimeout = Duration.seconds(5)
    package var pingInterval = Duration.seconds(20)
    /// After so many pings without any sign of life, the connection has ended.
    package var unansweredPings = 2
    /// The largest message that is accepted from the server.
    package var maximumPayload = 8 << 20

    package init(name: String) {
        self.name = name
    }
}

/// Who a client is. Its description has no secret.
package enum NATSCredentials: Hashable, Sendable, CustomStringConvertible {
    case user(String, password: String)
    case token(String)

    /// Reads a file of one line: `user:password`, or a token without a colon.
    package init(file path: String) throws(NATSError) {
        let form = "Write one line into it, user:password or a token."
        guard let text = try? String(contentsOf: URL(filePath: path), encoding: .utf8) else {
            throw NATSError(.notUsable, "The file of credentials \(path) cannot be read. \(form)")
        }
        let lines = text.split(whereSeparator: \.isNewline)
        guard lines.count == 1, let line = lines.first else {
            let problem =
                text.contains("BEGIN NATS USER JWT") ? "has a JWT, which is not supported" : "has no single line"
            throw NATSError(.notUsable, "The file of credentials \(path) \(problem). \(form)")
        }
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        self = parts.count == 2 ? .user(parts[0], password: parts[1]) : .token(parts[0])
    }

    package var description: String {
        if case .user(let name, _) = self { "user \(name)" } else { "a token" }
    }
}
