internal import NIOCore

// TLS is built only on request, because it takes minutes.
#if BRIDGE_TLS
    internal import NIOSSL

    enum NATSTLS {
        static func add(to pipeline: ChannelPipeline, _ server: NATSServer, _ options: NATSOptions) throws(NATSError) {
            var configuration = TLSConfiguration.makeClientConfiguration()
            if let roots = options.trustedRoots { configuration.trustRoots = .file(roots) }
            // The certificate is checked for this name or, without one, for the address of the connection.
            let isAddress = (try? SocketAddress(ipAddress: server.host, port: 0)) != nil
            do {
                let context = try NIOSSLContext(configuration: configuration)
                let handler = try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : server.host)
                try pipeline.syncOperations.addHandler(handler, position: .first)
            } catch {
                let remedy = options.trustedRoots.map { "; check the PEM file \($0)" } ?? ""
                throw .rejected(server, "TLS cannot begin: \(error)\(remedy)")
            }
        }

        /// Why a connection ended.
        static func error(_ error: any Error, with server: NATSServer) -> NATSError {
            if case NIOSSLError.uncleanShutdown = error { return .lost(server, "the server closed it") }
            if "\(error)".contains("CERTIFICATE_VERIFY_FAILED") {
                return .rejected(server, "its certificate has expired, or is not signed by whom this client trusts")
            }
            let isTLS = error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError
            return isTLS ? .rejected(server, "TLS failed: \(error)") : .lost(server, "\(error)")
        }
    }
#else
    enum NATSTLS {
        static func add(to _: ChannelPipeline, _ server: NATSServer, _: NATSOptions) throws(NATSError) {
            throw .rejected(server, "TLS is required, and this program has none; build it with BRIDGE=tls")
        }

        static func error(_ error: any Error, with server: NATSServer) -> NATSError { .lost(server, "\(error)") }
    }
#endif
