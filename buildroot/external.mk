include $(sort $(wildcard $(BR2_EXTERNAL_TALLYCAM_PATH)/package/*/*.mk))
