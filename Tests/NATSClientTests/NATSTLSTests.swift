internal import Foundation
internal import NIOCore
internal import SharedTesting
internal import XCTest

@testable internal import NATSClient

/// With certificates that `openssl` makes for this test.
final class NATSTLSTests: XCTestCase {
    /// A directory with two authorities, and certificates of the first for `localhost`, 127.0.0.1 and `elsewhere`.
    private let directory = "/tmp/tls-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"

    #if BRIDGE_TLS
        private static let hasTLS = true
    #else
        private static let hasTLS = false
    #endif

    override func setUpWithError() throws {
        try XCTSkipUnless(Self.hasTLS, "built without TLS; with it: BRIDGE=tls Scripts/test.sh")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let lines = """
            set -e; cd \(directory); key='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
            for ca in ca other; do openssl req -x509 $key -keyout $ca.key -out $ca.pem -days 2 -subj /CN=$ca; done
            sign() {
                openssl req $key -keyout $1.key -out $1.csr -subj /CN=server
                echo "subjectAltName=$2" > $1.ext
                openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile $1.ext -out $1.pem
            }
            sign here DNS:localhost,IP:127.0.0.1; sign there DNS:elsewhere
            """
        let bash = try Process.run(URL(filePath: "/bin/bash"), arguments: ["-c", "exec 2> /dev/null; \(lines)"])
        bash.waitUntilExit()
        try XCTSkipUnless(bash.terminationStatus == 0, "openssl is not installed: sudo apt install openssl")
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: directory) }

    private func server(_ certificate: String) throws -> NATSServerProcess {
        try NATSServerProcess(
            "--tls", "--tlscert", "\(directory)/\(certificate).pem", "--tlskey", "\(directory)/\(certificate).key")
    }

    func testATrustedServerOfTheRightNameIsAccepted() async throws {
        let server = try server("here")
        for url in ["nats://localhost:\(server.port)", "tls://127.0.0.1:\(server.port)"] {
            let client = try await NATSConnection.test(to: try NATSServer(url)) {
                $0.trustedRoots = "\(directory)/ca.pem"
            }
            try client.publish([1].span.bytes, to: "a")
            try await client.ping()
            await client.close()
            assertEqual(try await client.closed.get(), .closed, "")
        }
        let client = try await NATSConnection.test(to: try NATSServer("tls://localhost:\(server.port)")) {
            $0.trustedRoots = "\(directory)/ca.pem"
        }
        server.kill()
        assertEqual(try await client.closed.get(), .lost, "")
    }

    func testAnyOtherServerIsRefused() async throws {
        let (here, there) = (try server("here"), try server("there"))
        let cases: [(server: NATSServerProcess, host: String, roots: String?, code: NATSError.Code, words: String)] = [
            (here, "localhost", "other.pem", .rejected, "not signed by whom this client trusts"),
            (here, "localhost", nil, .rejected, "not signed by whom this client trusts"),
            (there, "localhost", "ca.pem", .rejected, "another host than localhost"),
            (there, "127.0.0.1", "ca.pem", .rejected, "another host than 127.0.0.1"),
            (here, "localhost", "nowhere.pem", .notUsable, "nowhere.pem"),
        ]
        for (server, host, roots, code, words) in cases {
            await assertThrows(code, words) {
                try await NATSConnection.test(to: try NATSServer("nats://\(host):\(server.port)")) {
                    $0.trustedRoots = roots.map { "\(directory)/\($0)" }
                }
            }
        }
    }

    func testTLSThatIsRequiredIsNotGivenUp() async throws {
        let server = try NATSServerProcess()
        await assertThrows(.rejected, "does not offer TLS") {
            try await NATSConnection.test(to: try NATSServer("tls://localhost:\(server.port)"))
        }
    }
}
