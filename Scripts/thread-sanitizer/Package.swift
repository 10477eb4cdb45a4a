// swift-tools-version: 6.2

// The libraries and the tests of what their threads share, without the command line, so that the thread sanitizer's build
// is short. `Scripts/test.sh` runs it. `Sources` and `Tests` are links to those of the package.

import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let libraries: [Target.Dependency] = [
    "CLinux", "DistributedNotifications", "NotificationServer", "ThreadedNotifications",
]

let package = Package(
    name: "ThreadedNotifications",
    targets: [
        .target(name: "CLinux"),
        .target(name: "ThreadedNotifications", dependencies: ["CLinux"], swiftSettings: strict),
        .target(
            name: "DistributedNotifications", dependencies: ["CLinux", "ThreadedNotifications"], swiftSettings: strict),
        .target(
            name: "NotificationServer", dependencies: ["CLinux", "DistributedNotifications", "ThreadedNotifications"],
            swiftSettings: strict),
        .executableTarget(
            name: "notification-server", dependencies: ["DistributedNotifications", "NotificationServer"],
            swiftSettings: strict),
        .target(name: "SharedTesting", path: "Tests/SharedTesting", swiftSettings: strict),
        .target(
            name: "DistributedTesting", dependencies: libraries + ["SharedTesting"], path: "Tests/DistributedTesting",
            swiftSettings: strict),
        .testTarget(
            name: "ThreadedNotificationsTests", dependencies: ["SharedTesting", "ThreadedNotifications"],
            swiftSettings: strict),
        .testTarget(
            name: "DistributedNotificationsTests",
            dependencies: libraries + ["DistributedTesting", "SharedTesting"],
            sources: ["Client/SequenceEndTests.swift", "Client/WaitingBytesTests.swift"], swiftSettings: strict),
        .testTarget(
            name: "NotificationServerTests",
            dependencies: libraries + ["DistributedTesting", "SharedTesting", "notification-server"],
            sources: [
                "Faults/CenterLifeTests.swift", "Faults/CenterStressTests.swift", "Faults/ServerTurnTests.swift",
            ], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
