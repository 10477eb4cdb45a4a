internal import FoundationEssentials

/// How to connect to a NATS server.
package struct NATSOptions: Sendable {
    /// The name that NATS shows for this client.
    package var name: String
    package var credentials: NATSCredentials?
    /// Requires TLS. A server that requires it gets it without this.
    package var requiresTLS = false
    /// A PEM file of the certificates to trust instead of the system's. Requires TLS.
    package var trustedRoots: String?
    /// How long the server may take for its consent, from the resolution of its name on, and for any answer later.
    package var timeout = Duration.seconds(5)

    /// A server that takes no message of so many bytes is not used.
    package var largestMessage: Int

    package init(name: String, largestMessage: Int = 0) { (self.name, self.largestMessage) = (name, largestMessage) }
}

/// The user and password, or the token, of a client.
package struct NATSCredentials: Equatable, Sendable {
    var user: String?
    var pass: String?
    var authToken: String?
}

extension NATSCredentials {
    /// Reads a file of one line: `user:password`, or a token without a colon.
    package init(file path: String) throws(NATSError) {
        let lines = (try? String(contentsOfFile: path, encoding: .utf8))?.split(whereSeparator: \.isNewline)
        guard let lines, lines.count == 1 else {
            throw NATSError(
                "The file of credentials \(path) cannot be used. Write one line into it, user:password or a token.")
        }
        let parts = lines[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2 { (user, pass) = (parts[0], parts[1]) } else { authToken = parts[0] }
    }
}
