internal import ChildProcesses
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import Scenarios
internal import SharedTesting
internal import XCTest

@testable internal import NATSClient

/// Against the real server. Wrong credentials and certificates, garbage and kills are faults of the machines scenario.
final class NATSConnectionTests: XCTestCase {
    func testSubscribersGetWhatOthersPublishInOrderAndNothingOfTheirOwn() async throws {
        let server = try NATSHub.started()
        let (received, batches) = (Awaited([String]()), Awaited(0))
        let one = try await NATSConnection.test(
            to: server.url, onReadComplete: { batches.withLock { $0 = received.withLock(\.count) } })
        let two = try await server.connect()
        await one.subscribe("a.>") { message in received.withLock { $0.append(String(buffer: message.payload)) } }
        try await one.ping()
        one.publish([1], to: "a.own")
        for number in 1...1000 { two.publish(Array("\(number)".utf8), to: "a.\(number)", reply: "r") }
        // The server has given all to the subscriber before it answers the first ping, and the second comes after that.
        try await two.ping()
        try await one.ping()
        XCTAssertEqual(received.withLock { $0 }, (1...1000).map(String.init))
        XCTAssert(batches.wait { $0 == 1000 })
        await two.close()
        await one.close()
    }

    func testWhatCannotBeSentIsRefusedAndTheConnectionGoesOn() async throws {
        let server = try NATSHub.started { hub in
            let user = "{ user: me, password: right, permissions: { subscribe: { deny: secret } } }"
            try hub.shell("echo 'authorization { users = [ \(user) ] }' >conf")
            // Without JetStream.
            hub.arguments = ["-c", "\(hub.path)/conf"]
        }
        await assertThrows("its max_payload is 1048576; let it be at least 1048577") {
            try await server.connect { $0.largestMessage = 1 << 20 + 1 }
        }
        let refusals = Awaited([String]())
        let client = try await NATSConnection.test(
            to: server.url, onRefusal: { error in refusals.withLock { $0.append("\(error)") } },
            { $0.credentials = NATSCredentials(user: "me", pass: "right") })
        await assertThrows("-js", needsConfiguration: false) {
            try await client.openStream("S", subjects: ["s"], maxBytes: 1)
        }
        // The server refuses it, and says so.
        await client.subscribe("secret") { _ in }
        for _ in 1...2 { try await client.ping() }
        XCTAssertEqual(refusals.withLock { $0.map { $0.contains("Subscription to \\\"secret") } }, [true])
        await client.close()
        await assertThrows("it says \"Authorization Violation\"; check the credentials") { try await server.connect() }
    }

    func testACloseWaitsUntilTheServerHasAllAndFailsWhatComesLater() async throws {
        let server = try NATSHub.started()
        let (sender, receiver) = (try await server.connect(), try await server.connect())
        let count = Awaited(0)
        await receiver.subscribe("a") { _ in count.withLock { $0 += 1 } }
        try await receiver.ping()
        for _ in 0..<10_000 { sender.publish([UInt8](repeating: 1, count: 1000), to: "a") }
        await sender.close()
        try await receiver.ping()
        XCTAssertEqual(count.withLock { $0 }, 10_000)
        await assertThrows("this client closed it", needsConfiguration: false) { try await sender.ping() }
        await receiver.close()
    }

    func testASilentServerEndsConnectionsAndAllThatIsOutstanding() async throws {
        let server = try NATSHub.started()
        let patient = try await server.connect()
        await patient.subscribe("silent") { _ in }
        try await patient.ping()
        // It has stopped when its parent is told.
        let process = try XCTUnwrap(server.process?.id)
        kill(process, SIGSTOP)
        var information = siginfo_t()
        XCTAssertEqual(waitid(P_PID, id_t(process), &information, WSTOPPED | WNOWAIT), 0)
        await assertThrows("did not answer within 0.01 seconds", needsConfiguration: false) {
            try await server.connect { $0.timeout = .milliseconds(10) }
        }
        await assertThrows("did not answer a ping within 0.01 seconds", needsConfiguration: false) {
            try await patient.ping(timeout: .milliseconds(10))
        }
        let answer = Task { try await patient.request("silent", []) }
        server.kill()
        await assertThrows("is lost", needsConfiguration: false) { try await answer.value }
        await assertThrows("is lost", needsConfiguration: false) { try await patient.ping() }
        await assertThrows("refused", needsConfiguration: false) { try await server.connect() }
    }

    func testTLSThatIsRequiredIsNotGivenUp() async throws {
        let server = try NATSHub.started()
        for change in [{ $0.requiresTLS = true }, { $0.trustedRoots = "roots" }] as [(inout NATSOptions) -> Void] {
            await assertThrows("does not offer TLS") { try await server.connect(change) }
        }
        await assertThrows("does not offer TLS") { try await NATSConnection.test(to: "tls://127.0.0.1:\(server.port)") }
    }

    func testPlainTextBeforeTLSIsNotBelieved() async throws {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Impostor()) }
            }.bind(host: "127.0.0.1", port: 0).get()
        let port = try XCTUnwrap(listener.localAddress?.port)
        await assertThrows("before TLS") { try await NATSConnection.test(to: "nats://127.0.0.1:\(port)") }
        try await listener.close()
    }

    /// A server that claims TLS, and does not wait for it.
    private final class Impostor: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        func channelActive(context: ChannelHandlerContext) {
            let text = "INFO {\"max_payload\":10,\"tls_required\":true}\r\nPONG\r\n"
            context.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: nil)
        }
    }

    #if BRIDGE_TLS
        func testACertificateOfAnotherHostIsRefused() async throws {
            try XCTSkipIf(ChildProgram.find("openssl") == nil, "openssl is not installed: sudo apt install openssl")
            let server = try NATSHub.started { hub in
                let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -addext subjectAltName=DNS:localhost"
                try hub.shell("openssl req -x509 \(key) -subj /CN=a -keyout key -out pem")
                hub.arguments += ["--tls", "--tlscert", "\(hub.path)/pem", "--tlskey", "\(hub.path)/key"]
            }
            func connect(_ host: String, _ roots: String) async throws(NATSError) {
                let url = "nats://\(host):\(server.port)"
                try await NATSConnection.test(to: url) { $0.trustedRoots = "\(server.path)/\(roots)" }.close()
            }
            try await connect("localhost", "pem")
            await assertThrows("certificate") { try await connect("127.0.0.1", "pem") }
            await assertThrows("\(server.path)/none") { try await connect("localhost", "none") }
        }
    #endif
}
