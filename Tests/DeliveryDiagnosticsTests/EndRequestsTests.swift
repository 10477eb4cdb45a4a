import Foundation
import Glibc
import Testing

@testable import DeliveryDiagnostics

/// Signals that ask `record` to end. Each test is a process of its own, since signals are handled for a whole process.
@Suite("Requests to end")
struct EndRequestsTests {
    /// Starts a program that ends by itself, and tells by which signal it ended; 0 if by none.
    private static func signal(endingProgram body: (pid_t) -> Void) throws -> Int32 {
        var process: pid_t = 0
        var arguments = [strdup("sleep"), strdup("60"), nil]
        defer { for argument in arguments { free(argument) } }
        try #require(posix_spawnp(&process, "sleep", nil, nil, &arguments, nil) == 0)
        body(process)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { try #require(errno == EINTR) }
        return status & 0x7F
    }

    @Test("one that came before there was a program to pass it on to is passed on to it")
    func early() async {
        await #expect(processExitsWith: .success) {
            for request in [SIGTERM, SIGHUP] {
                let requests = EndRequests()
                raise(request)
                let ending = try Self.signal { requests.passOn(to: $0) }
                #expect(ending == request)
                requests.end()
            }
        }
    }

    @Test("one that comes later is passed on")
    func later() async {
        await #expect(processExitsWith: .success) {
            for request in [SIGTERM, SIGHUP] {
                let requests = EndRequests()
                let ending = try Self.signal {
                    requests.passOn(to: $0)
                    raise(request)
                }
                #expect(ending == request)
                requests.end()
            }
        }
    }
}
