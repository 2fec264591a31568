--
-- Made-up rows for a demonstration, nothing here is a fact
--

SET client_encoding = 'UTF8';
CREATE TABLE public.identifier (
    id integer
);

--
-- Name: public.omop_relationship_doid_view; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.omop_relationship_doid_view (struct_id, relationship_name, doid) FROM stdin;
9901	indication	DOID:9900040
\.

--
-- Name: public.omop_relationship; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.omop_relationship (id, struct_id, concept_id, relationship_name, concept_name, umls_cui, snomed_full_name, cui_semantic_type, snomed_conceptid) FROM stdin;
1000	9901	99001	indication	made-up	C9900001	made-up (disorder)	T047	\N
1001	9901	99002	contraindication	made-up	C9900002	made-up (disorder)	T047	\N
1002	9901	99003	indication	made-up	C9900003	made-up (disorder)	T047	\N
1003	9901	99004	indication	made-up	C9900004	made-up (disorder)	T047	\N
1004	9901	99005	indication	made-up	C9900005	made-up (disorder)	T047	\N
1005	9901	99006	indication	made-up	C9900006	made-up (disorder)	T047	\N
1006	9901	99009	indication	made-up	C9900009	made-up (disorder)	T047	\N
1007	9901	99010	indication	made-up	C9900010	made-up (disorder)	T047	\N
1008	9901	99013	indication	made-up	C9900013	made-up (disorder)	T047	\N
1009	9901	99016	indication	made-up	C9900016	made-up (disorder)	T047	\N
1010	9901	99017	indication	made-up	C9900017	made-up (disorder)	T047	\N
1011	9901	99018	indication	made-up	C9900018	made-up (disorder)	T047	\N
1012	9901	99021	indication	made-up	C9900021	made-up (disorder)	T047	\N
1013	9901	99034	contraindication	made-up	C9900034	made-up (disorder)	T047	\N
1014	9901	99037	contraindication	made-up	C9900037	made-up (disorder)	T047	\N
1015	9901	99040	indication	made-up	C9900040	made-up (disorder)	T047	\N
1016	9902	99002	indication	made-up	C9900002	made-up (disorder)	T047	\N
1017	9902	99004	indication	made-up	C9900004	made-up (disorder)	T047	\N
1018	9902	99006	indication	made-up	C9900006	made-up (disorder)	T047	\N
1019	9902	99010	indication	made-up	C9900010	made-up (disorder)	T047	\N
1020	9902	99028	indication	made-up	C9900028	made-up (disorder)	T047	\N
1021	9903	99001	indication	made-up	C9900001	made-up (disorder)	T047	\N
1022	9903	99003	indication	made-up	C9900003	made-up (disorder)	T047	\N
1023	9903	99004	contraindication	made-up	C9900004	made-up (disorder)	T047	\N
1024	9903	99007	indication	made-up	C9900007	made-up (disorder)	T047	\N
1025	9903	99013	indication	made-up	C9900013	made-up (disorder)	T047	\N
1026	9903	99020	indication	made-up	C9900020	made-up (disorder)	T047	\N
1027	9903	99022	contraindication	made-up	C9900022	made-up (disorder)	T047	\N
1028	9903	99027	contraindication	made-up	C9900027	made-up (disorder)	T047	\N
1029	9903	99029	contraindication	made-up	C9900029	made-up (disorder)	T047	\N
1030	9903	99035	indication	made-up	C9900035	made-up (disorder)	T047	\N
1031	9904	99001	contraindication	made-up	C9900001	made-up (disorder)	T047	\N
1032	9904	99004	indication	made-up	C9900004	made-up (disorder)	T047	\N
1033	9904	99008	contraindication	made-up	C9900008	made-up (disorder)	T047	\N
1034	9904	99016	contraindication	made-up	C9900016	made-up (disorder)	T047	\N
1035	9904	99020	indication	made-up	C9900020	made-up (disorder)	T047	\N
1036	9904	99028	contraindication	made-up	C9900028	made-up (disorder)	T047	\N
1037	9905	99001	indication	made-up	C9900001	made-up (disorder)	T047	\N
1038	9905	99003	contraindication	made-up	C9900003	made-up (disorder)	T047	\N
1039	9905	99009	contraindication	made-up	C9900009	made-up (disorder)	T047	\N
1040	9905	99013	indication	made-up	C9900013	made-up (disorder)	T047	\N
1041	9905	99017	contraindication	made-up	C9900017	made-up (disorder)	T047	\N
1042	9905	99033	contraindication	made-up	C9900033	made-up (disorder)	T047	\N
1043	9906	99001	indication	made-up	C9900001	made-up (disorder)	T047	\N
1044	9906	99002	indication	made-up	C9900002	made-up (disorder)	T047	\N
1045	9906	99003	indication	made-up	C9900003	made-up (disorder)	T047	\N
1046	9906	99005	indication	made-up	C9900005	made-up (disorder)	T047	\N
1047	9906	99006	contraindication	made-up	C9900006	made-up (disorder)	T047	\N
1048	9906	99014	contraindication	made-up	C9900014	made-up (disorder)	T047	\N
1049	9906	99018	contraindication	made-up	C9900018	made-up (disorder)	T047	\N
1050	9906	99023	contraindication	made-up	C9900023	made-up (disorder)	T047	\N
1051	9906	99026	contraindication	made-up	C9900026	made-up (disorder)	T047	\N
1052	9906	99031	contraindication	made-up	C9900031	made-up (disorder)	T047	\N
1053	9907	99007	indication	made-up	C9900007	made-up (disorder)	T047	\N
1054	9907	99038	indication	made-up	C9900038	made-up (disorder)	T047	\N
1055	9908	99004	indication	made-up	C9900004	made-up (disorder)	T047	\N
1056	9908	99016	indication	made-up	C9900016	made-up (disorder)	T047	\N
1057	9909	99001	indication	made-up	C9900001	made-up (disorder)	T047	\N
1058	9909	99005	indication	made-up	C9900005	made-up (disorder)	T047	\N
1059	9909	99025	contraindication	made-up	C9900025	made-up (disorder)	T047	\N
1060	9909	99036	indication	made-up	C9900036	made-up (disorder)	T047	\N
1061	9909	99037	indication	made-up	C9900037	made-up (disorder)	T047	\N
1062	9910	99002	indication	made-up	C9900002	made-up (disorder)	T047	\N
1063	9910	99005	indication	made-up	C9900005	made-up (disorder)	T047	\N
1064	9910	99006	indication	made-up	C9900006	made-up (disorder)	T047	\N
1065	9910	99011	indication	made-up	C9900011	made-up (disorder)	T047	\N
1066	9910	99014	indication	made-up	C9900014	made-up (disorder)	T047	\N
1067	9910	99018	indication	made-up	C9900018	made-up (disorder)	T047	\N
1068	9910	99038	contraindication	made-up	C9900038	made-up (disorder)	T047	\N
1069	9911	99002	indication	made-up	C9900002	made-up (disorder)	T047	\N
1070	9911	99007	indication	made-up	C9900007	made-up (disorder)	T047	\N
1071	9911	99011	indication	made-up	C9900011	made-up (disorder)	T047	\N
1072	9911	99017	contraindication	made-up	C9900017	made-up (disorder)	T047	\N
1073	9911	99019	indication	made-up	C9900019	made-up (disorder)	T047	\N
1074	9911	99023	contraindication	made-up	C9900023	made-up (disorder)	T047	\N
1075	9912	99001	contraindication	made-up	C9900001	made-up (disorder)	T047	\N
1076	9912	99004	indication	made-up	C9900004	made-up (disorder)	T047	\N
1077	9912	99007	contraindication	made-up	C9900007	made-up (disorder)	T047	\N
1078	9912	99010	contraindication	made-up	C9900010	made-up (disorder)	T047	\N
1079	9913	99001	indication	made-up	C9900001	made-up (disorder)	T047	\N
1080	9913	99009	indication	made-up	C9900009	made-up (disorder)	T047	\N
1081	9913	99017	indication	made-up	C9900017	made-up (disorder)	T047	\N
1082	9913	99021	indication	made-up	C9900021	made-up (disorder)	T047	\N
1083	9913	99026	indication	made-up	C9900026	made-up (disorder)	T047	\N
1084	9914	99006	indication	made-up	C9900006	made-up (disorder)	T047	\N
1085	9914	99010	indication	made-up	C9900010	made-up (disorder)	T047	\N
1086	9915	99020	indication	made-up	C9900020	made-up (disorder)	T047	\N
1087	9916	99001	contraindication	made-up	C9900001	made-up (disorder)	T047	\N
1088	9916	99020	indication	made-up	C9900020	made-up (disorder)	T047	\N
1089	9916	99028	indication	made-up	C9900028	made-up (disorder)	T047	\N
1090	9916	99036	indication	made-up	C9900036	made-up (disorder)	T047	\N
1091	9916	99040	indication	made-up	C9900040	made-up (disorder)	T047	\N
1092	9917	99001	indication	made-up	C9900001	made-up (disorder)	T047	\N
1093	9917	99005	indication	made-up	C9900005	made-up (disorder)	T047	\N
1094	9917	99006	indication	made-up	C9900006	made-up (disorder)	T047	\N
1095	9917	99013	indication	made-up	C9900013	made-up (disorder)	T047	\N
1096	9917	99029	indication	made-up	C9900029	made-up (disorder)	T047	\N
1097	9918	99001	indication	made-up	C9900001	made-up (disorder)	T047	\N
1098	9918	99002	indication	made-up	C9900002	made-up (disorder)	T047	\N
1099	9918	99010	contraindication	made-up	C9900010	made-up (disorder)	T047	\N
1100	9918	99029	indication	made-up	C9900029	made-up (disorder)	T047	\N
1101	9918	99034	indication	made-up	C9900034	made-up (disorder)	T047	\N
1102	9919	99011	indication	made-up	C9900011	made-up (disorder)	T047	\N
1103	9919	99016	indication	made-up	C9900016	made-up (disorder)	T047	\N
1104	9919	99027	contraindication	made-up	C9900027	made-up (disorder)	T047	\N
1105	9920	99001	contraindication	made-up	C9900001	made-up (disorder)	T047	\N
1106	9920	99010	indication	made-up	C9900010	made-up (disorder)	T047	\N
1107	9920	99012	indication	made-up	C9900012	made-up (disorder)	T047	\N
1108	9921	99001	contraindication	made-up	C9900001	made-up (disorder)	T047	\N
1109	9921	99007	contraindication	made-up	C9900007	made-up (disorder)	T047	\N
1110	9921	99009	indication	made-up	C9900009	made-up (disorder)	T047	\N
1111	9921	99014	indication	made-up	C9900014	made-up (disorder)	T047	\N
1112	9921	99039	indication	made-up	C9900039	made-up (disorder)	T047	\N
1113	9922	99002	indication	made-up	C9900002	made-up (disorder)	T047	\N
1114	9922	99022	contraindication	made-up	C9900022	made-up (disorder)	T047	\N
1115	9924	99004	contraindication	made-up	C9900004	made-up (disorder)	T047	\N
1116	9924	99006	indication	made-up	C9900006	made-up (disorder)	T047	\N
1117	9924	99012	contraindication	made-up	C9900012	made-up (disorder)	T047	\N
1118	9925	99001	contraindication	made-up	C9900001	made-up (disorder)	T047	\N
1119	9925	99003	indication	made-up	C9900003	made-up (disorder)	T047	\N
1120	9925	99005	indication	made-up	C9900005	made-up (disorder)	T047	\N
1121	9926	99012	contraindication	made-up	C9900012	made-up (disorder)	T047	\N
1122	9926	99034	indication	made-up	C9900034	made-up (disorder)	T047	\N
1123	9927	99008	contraindication	made-up	C9900008	made-up (disorder)	T047	\N
1124	9928	99001	contraindication	made-up	C9900001	made-up (disorder)	T047	\N
1125	9929	99001	indication	made-up	C9900001	made-up (disorder)	T047	\N
1126	9929	99005	indication	made-up	C9900005	made-up (disorder)	T047	\N
1127	9929	99017	indication	made-up	C9900017	made-up (disorder)	T047	\N
1128	9929	99020	contraindication	made-up	C9900020	made-up (disorder)	T047	\N
1129	9930	99001	indication	made-up	C9900001	made-up (disorder)	T047	\N
1130	9930	99004	contraindication	made-up	C9900004	made-up (disorder)	T047	\N
1131	9930	99006	indication	made-up	C9900006	made-up (disorder)	T047	\N
1132	9931	99003	indication	made-up	C9900003	made-up (disorder)	T047	\N
1133	9931	99010	contraindication	made-up	C9900010	made-up (disorder)	T047	\N
1134	9931	99027	indication	made-up	C9900027	made-up (disorder)	T047	\N
1135	9931	99033	indication	made-up	C9900033	made-up (disorder)	T047	\N
1136	9932	99020	contraindication	made-up	C9900020	made-up (disorder)	T047	\N
1137	9933	99001	indication	made-up	C9900001	made-up (disorder)	T047	\N
1138	9933	99007	contraindication	made-up	C9900007	made-up (disorder)	T047	\N
1139	9934	99002	indication	made-up	C9900002	made-up (disorder)	T047	\N
1140	9935	99001	indication	made-up	C9900001	made-up (disorder)	T047	\N
1141	9935	99023	indication	made-up	C9900023	made-up (disorder)	T047	\N
1142	9936	99003	indication	made-up	C9900003	made-up (disorder)	T047	\N
1143	9936	99036	indication	made-up	C9900036	made-up (disorder)	T047	\N
1144	9936	99040	indication	made-up	C9900040	made-up (disorder)	T047	\N
1145	9937	99028	indication	made-up	C9900028	made-up (disorder)	T047	\N
1146	9939	99003	contraindication	made-up	C9900003	made-up (disorder)	T047	\N
1147	9940	99002	contraindication	made-up	C9900002	made-up (disorder)	T047	\N
1148	9940	99015	contraindication	made-up	C9900015	made-up (disorder)	T047	\N
1149	9940	99036	contraindication	made-up	C9900036	made-up (disorder)	T047	\N
1150	9901	99001	contraindication	made-up	C9900001	made-up (disorder)	T047	\N
1151	9901	99001	indication	made-up	C9900001	made-up (disorder)	T047	\N
1152	9902	99002	off-label use	made-up	C9900002	made-up (disorder)	T047	\N
1153	9902	99003	reduce risk	made-up	C9900003	made-up (disorder)	T047	\N
1154	9902	99004	symptomatic treatment	made-up	C9900004	made-up (disorder)	T047	\N
1155	9902	99005	diagnosis	made-up	C9900005	made-up (disorder)	T047	\N
1156	9903	99001	indication	made-up	\N	made-up (disorder)	T047	\N
1157	9903	99002	indication	made-up	C9903006	made-up (disorder)	T047	\N
1158	9903	99006	indication	made-up	C9903001	made-up (disorder)	T047	\N
1159	9977	99006	indication	made-up	C9900006	made-up (disorder)	T047	\N
1160	9904	99008	indication	made-up\twith \\ and\nescapes	C9900008	made-up\twith \\ and\nescapes (disorder)	T047	\N
\.

--
-- Name: public.parentmol; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.parentmol (cd_id, name) FROM stdin;
9901	made-up parent
\.

--
-- Name: public.identifier_type; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.identifier_type (id, id_type) FROM stdin;
1	PUBCHEM_CID
\.

--
-- Name: public.identifier; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.identifier (struct_id, id, id_type, identifier, parent_match) FROM stdin;
9901	2	PUBCHEM_CID	990001	\N
9901	3	KEGG_DRUG	D99001	f
9902	4	PUBCHEM_CID	990002	\N
9902	5	KEGG_DRUG	D99002	f
9903	6	PUBCHEM_CID	990003	\N
9903	7	KEGG_DRUG	D99003	f
9904	8	PUBCHEM_CID	990004	\N
9904	9	KEGG_DRUG	D99004	f
9905	10	PUBCHEM_CID	990005	\N
9905	11	KEGG_DRUG	D99005	f
9906	12	PUBCHEM_CID	990006	\N
9906	13	KEGG_DRUG	D99006	f
9907	14	PUBCHEM_CID	990007	\N
9907	15	KEGG_DRUG	D99007	f
9908	16	PUBCHEM_CID	990008	\N
9908	17	KEGG_DRUG	D99008	f
9909	18	PUBCHEM_CID	990009	\N
9909	19	KEGG_DRUG	D99009	f
9910	20	PUBCHEM_CID	990010	\N
9910	21	KEGG_DRUG	D99010	f
9911	22	PUBCHEM_CID	990011	\N
9911	23	KEGG_DRUG	D99011	f
9912	24	PUBCHEM_CID	990012	\N
9912	25	KEGG_DRUG	D99012	f
9913	26	PUBCHEM_CID	990013	\N
9913	27	KEGG_DRUG	D99013	f
9914	28	PUBCHEM_CID	990014	\N
9914	29	KEGG_DRUG	D99014	f
9915	30	PUBCHEM_CID	990015	\N
9915	31	KEGG_DRUG	D99015	f
9916	32	PUBCHEM_CID	990016	\N
9916	33	KEGG_DRUG	D99016	f
9917	34	PUBCHEM_CID	990017	\N
9917	35	KEGG_DRUG	D99017	f
9918	36	PUBCHEM_CID	990018	\N
9918	37	KEGG_DRUG	D99018	f
9919	38	PUBCHEM_CID	990019	\N
9919	39	KEGG_DRUG	D99019	f
9920	40	PUBCHEM_CID	990020	\N
9920	41	KEGG_DRUG	D99020	f
9921	42	PUBCHEM_CID	990021	\N
9921	43	KEGG_DRUG	D99021	f
9922	44	PUBCHEM_CID	990022	\N
9922	45	KEGG_DRUG	D99022	f
9923	46	PUBCHEM_CID	990023	\N
9923	47	KEGG_DRUG	D99023	f
9924	48	PUBCHEM_CID	990024	\N
9924	49	KEGG_DRUG	D99024	f
9925	50	PUBCHEM_CID	990025	\N
9925	51	KEGG_DRUG	D99025	f
9926	52	PUBCHEM_CID	990026	\N
9926	53	KEGG_DRUG	D99026	f
9927	54	PUBCHEM_CID	990027	\N
9927	55	KEGG_DRUG	D99027	f
9928	56	PUBCHEM_CID	990028	\N
9928	57	KEGG_DRUG	D99028	f
9929	58	PUBCHEM_CID	990029	\N
9929	59	KEGG_DRUG	D99029	f
9930	60	PUBCHEM_CID	990030	\N
9930	61	KEGG_DRUG	D99030	f
9931	62	PUBCHEM_CID	990031	\N
9931	63	KEGG_DRUG	D99031	f
9932	64	PUBCHEM_CID	990032	\N
9932	65	KEGG_DRUG	D99032	f
9933	66	PUBCHEM_CID	990033	\N
9933	67	KEGG_DRUG	D99033	f
9934	68	PUBCHEM_CID	990034	\N
9934	69	KEGG_DRUG	D99034	f
9935	70	PUBCHEM_CID	990035	\N
9935	71	KEGG_DRUG	D99035	f
9936	72	PUBCHEM_CID	990036	\N
9936	73	KEGG_DRUG	D99036	f
9937	74	PUBCHEM_CID	990037	\N
9937	75	KEGG_DRUG	D99037	f
9938	76	PUBCHEM_CID	990038	\N
9938	77	KEGG_DRUG	D99038	f
9939	78	PUBCHEM_CID	990039	\N
9939	79	KEGG_DRUG	D99039	f
9940	80	PUBCHEM_CID	990040	\N
9940	81	KEGG_DRUG	D99040	f
9901	501	PUBCHEM_CID	990041	\N
9902	502	PUBCHEM_CID	990042	t
9978	503	UNII	MADEUP99XX	\N
\.
