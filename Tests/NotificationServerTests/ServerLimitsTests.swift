import Testing

@testable import DistributedNotifications
@testable import NotificationServer

struct ServerLimitsTests {
    @Test func theDefaultsAreUsableAsTheyAre() {
        #expect(ServerLimits().usable == ServerLimits())
    }

    @Test(arguments: [Int.min, -1, 0])
    func limitsWithWhichNothingWorksAreRaised(_ value: Int) {
        var limits = ServerLimits()
        limits.clientsBeforeHello = value
        limits.framesPerTurn = value
        limits.postsAtOnce = value
        limits.postsPerSecond = value
        limits.observersPerClient = value
        let usable = limits.usable
        #expect(usable.clientsBeforeHello == 1)
        #expect(usable.framesPerTurn == 1)
        #expect(usable.postsAtOnce == 1)
        #expect(usable.postsPerSecond == 1)
        #expect(usable.observersPerClient == 0)
        #expect(usable.usable == usable)
    }

    @Test func postsAtOnceIsAtLeastFramesPerTurn() {
        var limits = ServerLimits()
        limits.framesPerTurn = 100
        limits.postsAtOnce = 20
        #expect(limits.usable.postsAtOnce == 100)
        limits.postsAtOnce = 101
        #expect(limits.usable.postsAtOnce == 101)
    }

    @Test(arguments: [(599, 599), (600, 600), (601, 600), (Int.max, 600)])
    func theObserverLimitIsAtMostWhatAFrameHasRoomFor(_ asked: Int, _ usable: Int) {
        var limits = ServerLimits()
        limits.observersPerClient = asked
        #expect(limits.usable.observersPerClient == usable)
    }

    @Test func otherLimitsStayAsTheyAre() {
        var limits = ServerLimits()
        (limits.clients, limits.helloTimeout) = (-1, .seconds(-3))
        (limits.softQueueBytes, limits.softQueueTimeout, limits.hardQueueBytes) = (-4, .seconds(-5), -6)
        (limits.progressTimeout, limits.idleTimeout, limits.stopTimeout) = (.seconds(-7), .seconds(-8), .seconds(-9))
        (limits.heldEntriesPerClient, limits.heldBytesPerClient, limits.heldBytes) = (-10, -11, -12)
        limits.heldOverflow = .deliver
        #expect(limits.usable == limits)
    }

    @Test func negativeDurationsAreZeroAndVeryLongOnesAreLimited() {
        #expect(Duration.seconds(-1).nanoseconds == 0)
        #expect(Duration.milliseconds(1500).nanoseconds == 1_500_000_000)
        #expect(Duration.nanoseconds(7).nanoseconds == 7)
        #expect(Duration.seconds(Int64.max).nanoseconds == 1_000_000_000_000_000_000)
    }
}
