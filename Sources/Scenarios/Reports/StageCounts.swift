/// The number of records of each stage.
struct StageCounts {
    private var counts: [DeliveryStage: Int] = [:]

    init(_ records: [DeliveryRecord]) {
        for record in records { counts[record.stage, default: 0] += 1 }
    }

    subscript(stage: DeliveryStage) -> Int { counts[stage] ?? 0 }
}
