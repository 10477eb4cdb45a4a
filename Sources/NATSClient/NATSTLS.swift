internal import NIOCore

// TLS is built only on request, because it takes minutes.
#if BRIDGE_TLS
    internal import NIOSSL

    enum NATSTLS {
        static func makeHandler(
            _ server: NATSServer, _ options: NATSOptions
        ) throws(NATSError) -> some ChannelHandler & RemovableChannelHandler {
            var configuration = TLSConfiguration.makeClientConfiguration()
            if let roots = options.trustedRoots { configuration.trustRoots = .file(roots) }
            let tls: NIOSSLContext
            do {
                tls = try NIOSSLContext(configuration: configuration)
            } catch {
                let file = options.trustedRoots ?? "of the system"
                throw NATSError(
                    .notUsable, "The certificates to trust, \(file), cannot be used (\(error)). Give a PEM file.")
            }
            do {
                // The certificate is checked for this name or, without one, for the address of the connection.
                let isAddress = (try? SocketAddress(ipAddress: server.host, port: 0)) != nil
                return try NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : server.host)
            } catch {
                throw .rejected(server, "TLS failed: \(error)")
            }
        }

        /// - Returns: nil if the error is not of TLS.
        static func error(_ error: any Error, with server: NATSServer) -> NATSError? {
            if case NIOSSLError.uncleanShutdown = error { return .lost(server, "the server closed it") }
            guard error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError else { return nil }
            if (error as? NIOSSLExtraError) == .failedToValidateHostname {
                return .rejected(server, "its TLS certificate is for another host than \(server.host)")
            }
            let isUntrusted = "\(error)".contains("CERTIFICATE_VERIFY_FAILED")
            let problem =
                isUntrusted ? "its certificate has expired, or is not signed by whom this client trusts" : "\(error)"
            return .rejected(server, "TLS failed: \(problem)")
        }
    }
#else
    enum NATSTLS {
        static func makeHandler(_ server: NATSServer, _ options: NATSOptions) throws(NATSError) -> any ChannelHandler {
            throw .rejected(
                server, "TLS is required, and this program was built without it. Build it with BRIDGE=tls")
        }

        static func error(_ error: any Error, with server: NATSServer) -> NATSError? { nil }
    }
#endif
