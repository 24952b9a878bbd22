import Media
import StreamQuality
import Testing

@Suite struct ZZDebug {
    @Test func trace() {
        for seed in 100..<500 {
            let good = 40.0
            var simulation = Simulation.high3(.random(goodFrom: good, seed: UInt64(seed)))
            simulation.seed = UInt64(seed)
            simulation.link.queueSeconds = [0.1, 0.5, 2][seed % 3]
            simulation.link.delay = [0.01, 0.05, 0.2][seed / 3 % 3]
            let result = simulation.run(seconds: good + 25)
            let t = result.timeToBitrate(VideoQuality.high3.bitrate, after: good)
            if t > 13 { print("DBGS", seed, t) }
        }
        for seed in [44, 131, 262, 205, 195] {
            let good = 40.0
            var simulation = Simulation.high3(.random(goodFrom: good, seed: UInt64(seed)))
            simulation.seed = UInt64(seed)
            simulation.link.queueSeconds = [0.1, 0.5, 2][seed % 3]
            simulation.link.delay = [0.01, 0.05, 0.2][seed / 3 % 3]
            let result = simulation.run(seconds: good + 25)
            for c in result.changes where c.time > 20 {
                print(
                    "DBG", seed, c.time, c.change.reason, c.change.from.videoBitrate.kilobitsPerSecond,
                    c.change.to.videoBitrate.kilobitsPerSecond, c.change.linkEstimate?.kilobitsPerSecond ?? -1)
            }
            for m in result.moments where m.time > 30 && Int((m.time * 10).rounded()) % 5 == 0 {
                print(
                    "DBGM", seed, m.time, m.age, m.delay, m.duration, m.estimate ?? -1, m.encoderKilobits,
                    result.script.bitsPerSecond(at: m.time) / 1000)
            }
        }
    }
}
